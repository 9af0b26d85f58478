<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh">
 <context>
  <name>Moat</name>
  <message>
   <source>{name} is an image, and the model in use cannot see images.</source>
   <translation>{name} 是图片，而当前使用的模型看不了图片。</translation>
  </message>
  <message>
   <source>{name} is larger than {size}.</source>
   <translation>{name} 大于 {size}。</translation>
  </message>
  <message>
   <source>{name} is not a text file.</source>
   <translation>{name} 不是文本文件。</translation>
  </message>
  <message>
   <source>{name} is not the image it claims to be.</source>
   <translation>{name} 并不是它声称的图片。</translation>
  </message>
  <message>
   <source>{name} holds no text.</source>
   <translation>{name} 中没有文字。</translation>
  </message>
  <message>
   <source>{name} could not be read: {why}.</source>
   <translation>无法读取 {name}：{why}。</translation>
  </message>
  <message>
   <source>{count} points from {first} to {last}.</source>
   <translation>从 {first} 到 {last} 共 {count} 个点。</translation>
  </message>
  <message>
   <source>Line chart</source>
   <translation>折线图</translation>
  </message>
  <message>
   <source>Bar chart</source>
   <translation>柱状图</translation>
  </message>
  <message>
   <source>Scatter chart</source>
   <translation>散点图</translation>
  </message>
  <message>
   <source>Pie chart</source>
   <translation>饼图</translation>
  </message>
  <message>
   <source>Ring chart</source>
   <translation>环形图</translation>
  </message>
  <message>
   <source>{name}: lowest {low} at {low_at}, highest {high} at {high_at}.</source>
   <translation>{name}：最低 {low}（{low_at}），最高 {high}（{high_at}）。</translation>
  </message>
  <message>
   <source>Open the copilot's menu in OpenBB Workspace, choose to add an agent, and paste:</source>
   <translation>在 OpenBB Workspace 中打开 Copilot 菜单，选择添加代理，然后粘贴：</translation>
  </message>
  <message>
   <source>Older OpenBB programs read another file from the same address:</source>
   <translation>较旧的 OpenBB 程序从同一地址读取另一个文件：</translation>
  </message>
  <message>
   <source>OpenBB Terminal (legacy)</source>
   <translation>OpenBB Terminal（旧版）</translation>
  </message>
  <message>
   <source>Any program that speaks to OpenAI works with this base address:</source>
   <translation>任何支持 OpenAI 的程序都可以使用这个基础地址：</translation>
  </message>
  <message>
   <source>Give your React app this runtime address; add its origin if it is not allowed:</source>
   <translation>把这个运行时地址交给您的 React 应用；如果来源未被允许，请添加：</translation>
  </message>
  <message>
   <source>In Continue's config.yaml; Cursor and others have the same three fields:</source>
   <translation>写入 Continue 的 config.yaml；Cursor 等编辑器有同样的三个字段：</translation>
  </message>
  <message>
   <source>Code editors (Continue, Cursor)</source>
   <translation>代码编辑器（Continue、Cursor）</translation>
  </message>
  <message>
   <source>Programs made for Ollama only need another host:</source>
   <translation>为 Ollama 编写的程序只需换一个主机：</translation>
  </message>
  <message>
   <source>Ollama programs</source>
   <translation>Ollama 程序</translation>
  </message>
  <message>
   <source>It found the agent “{name}”.</source>
   <translation>找到了代理“{name}”。</translation>
  </message>
  <message>
   <source>It found: {names}.</source>
   <translation>找到：{names}。</translation>
  </message>
  <message>
   <source>{model} answered ({count} token asked for).</source>
   <translation>{model} 已回答（请求了 {count} 个词元）。</translation>
  </message>
  <message>
   <source>It was answered, but no model is on this computer yet.</source>
   <translation>已得到回应，但这台电脑上还没有模型。</translation>
  </message>
  <message>
   <source>Prompts, documents and answers are worked on here and stay here.</source>
   <translation>提问、文档和回答都在这里处理，并留在这里。</translation>
  </message>
  <message>
   <source>Requests</source>
   <translation>请求</translation>
  </message>
  <message>
   <source>Outgoing</source>
   <translation>外出连接</translation>
  </message>
  <message>
   <source>Other machines may connect to Moat: their answers go to them.</source>
   <translation>其他机器可以连接 Moat：它们的回答会发给它们。</translation>
  </message>
  <message>
   <source>Moat is set to offline: every outgoing connection is refused.</source>
   <translation>Moat 处于离线状态：拒绝所有外出连接。</translation>
  </message>
  <message>
   <source>Parts of this page</source>
   <translation>本页的各部分</translation>
  </message>
  <message>
   <source>Requests that have ended</source>
   <translation>已结束的请求</translation>
  </message>
  <message>
   <source>Outgoing connections</source>
   <translation>外出连接</translation>
  </message>
  <message>
   <source>Moat has connected to {count} hosts.</source>
   <translation>Moat 已连接 {count} 个主机。</translation>
  </message>
  <message>
   <source>No request has come yet.</source>
   <translation>还没有收到请求。</translation>
  </message>
  <message>
   <source>Nothing went out.</source>
   <translation>没有任何外出连接。</translation>
  </message>
  <message>
   <source>Activity</source>
   <translation>活动</translation>
  </message>
  <message>
   <source>Nothing has left this machine since {time}.</source>
   <translation>自 {time} 起，没有任何数据离开这台机器。</translation>
  </message>
  <message>
   <source>Moat has connected to {host} and nowhere else.</source>
   <translation>Moat 只连接过 {host}。</translation>
  </message>
  <message>
   <source>Last at {time}: {why}.</source>
   <translation>最近一次 {time}：{why}。</translation>
  </message>
  <message>
   <source>New chat</source>
   <translation>新对话</translation>
  </message>
  <message>
   <source>Chats</source>
   <translation>对话</translation>
  </message>
  <message>
   <source>Options</source>
   <translation>选项</translation>
  </message>
  <message>
   <source>Write a message</source>
   <translation>写一条消息</translation>
  </message>
  <message>
   <source>Start Moat to write to a model</source>
   <translation>启动 Moat 后即可与模型对话</translation>
  </message>
  <message>
   <source>{used} of {all} tokens of context used</source>
   <translation>已用上下文 {used} / {all} 个词元</translation>
  </message>
  <message>
   <source>Attach files</source>
   <translation>附加文件</translation>
  </message>
  <message>
   <source>Export this chat</source>
   <translation>导出此对话</translation>
  </message>
  <message>
   <source>Show kept chats</source>
   <translation>显示保存的对话</translation>
  </message>
  <message>
   <source>Show options</source>
   <translation>显示选项</translation>
  </message>
  <message>
   <source>Remove the attached files</source>
   <translation>移除附加的文件</translation>
  </message>
  <message>
   <source>The chat could not be exported: {why}.</source>
   <translation>无法导出对话：{why}。</translation>
  </message>
  <message>
   <source>Chat</source>
   <translation>对话</translation>
  </message>
  <message>
   <source>With {names}</source>
   <translation>附带 {names}</translation>
  </message>
  <message>
   <source>Connect</source>
   <translation>连接</translation>
  </message>
  <message>
   <source>Use these settings</source>
   <translation>使用这些设置</translation>
  </message>
  <message>
   <source>Undo</source>
   <translation>撤销</translation>
  </message>
  <message>
   <source>Model to judge</source>
   <translation>要评估的模型</translation>
  </message>
  <message>
   <source>How a model would sit in it</source>
   <translation>模型会怎样占用内存</translation>
  </message>
  <message>
   <source>Hardware</source>
   <translation>硬件</translation>
  </message>
  <message>
   <source>There is no model yet. Models has some to get.</source>
   <translation>还没有模型。可以在“模型”页获取。</translation>
  </message>
  <message>
   <source>the address</source>
   <translation>地址</translation>
  </message>
  <message>
   <source>What happened</source>
   <translation>发生了什么</translation>
  </message>
  <message>
   <source>There is no address while Moat is stopped.</source>
   <translation>Moat 停止时没有地址。</translation>
  </message>
  <message>
   <source>Try again</source>
   <translation>重试</translation>
  </message>
  <message>
   <source>Open the log</source>
   <translation>打开日志</translation>
  </message>
  <message>
   <source>Address of the server</source>
   <translation>服务器地址</translation>
  </message>
  <message>
   <source>Address</source>
   <translation>地址</translation>
  </message>
  <message>
   <source>Home</source>
   <translation>首页</translation>
  </message>
  <message>
   <source>Pause</source>
   <translation>暂停</translation>
  </message>
  <message>
   <source>the shown or selected lines</source>
   <translation>显示或选中的行</translation>
  </message>
  <message>
   <source>Clear</source>
   <translation>清空</translation>
  </message>
  <message>
   <source>1 line</source>
   <translation>1 行</translation>
  </message>
  <message>
   <source>{count} lines</source>
   <translation>{count} 行</translation>
  </message>
  <message>
   <source>Least level shown</source>
   <translation>显示的最低级别</translation>
  </message>
  <message>
   <source>Filter by text</source>
   <translation>按文本筛选</translation>
  </message>
  <message>
   <source>Copy</source>
   <translation>复制</translation>
  </message>
  <message>
   <source>Clear the list</source>
   <translation>清空列表</translation>
  </message>
  <message>
   <source>Resume</source>
   <translation>继续</translation>
  </message>
  <message>
   <source>{count} new</source>
   <translation>{count} 条新的</translation>
  </message>
  <message>
   <source>Paused</source>
   <translation>已暂停</translation>
  </message>
  <message>
   <source>Logs</source>
   <translation>日志</translation>
  </message>
  <message>
   <source>Downloads</source>
   <translation>下载</translation>
  </message>
  <message>
   <source>{name} was deleted; {size} are free again.</source>
   <translation>{name} 已删除；释放了 {size}。</translation>
  </message>
  <message>
   <source>{name} was taken off the list; its file stays where it is.</source>
   <translation>{name} 已从列表移除；文件留在原处。</translation>
  </message>
  <message>
   <source>Add a GGUF file</source>
   <translation>添加 GGUF 文件</translation>
  </message>
  <message>
   <source>Models (*.gguf)</source>
   <translation>模型 (*.gguf)</translation>
  </message>
  <message>
   <source>On this computer</source>
   <translation>在这台电脑上</translation>
  </message>
  <message>
   <source>Discover</source>
   <translation>发现</translation>
  </message>
  <message>
   <source>Models</source>
   <translation>模型</translation>
  </message>
  <message>
   <source>Reading the files of {repo}…</source>
   <translation>正在读取 {repo} 的文件…</translation>
  </message>
  <message>
   <source>Add a plugin folder</source>
   <translation>添加插件文件夹</translation>
  </message>
  <message>
   <source>Add a zip file</source>
   <translation>添加 zip 文件</translation>
  </message>
  <message>
   <source>No plugin is here yet. A plugin is a folder with a manifest.</source>
   <translation>还没有插件。插件是带有清单的文件夹。</translation>
  </message>
  <message>
   <source>Resume plugins</source>
   <translation>恢复插件</translation>
  </message>
  <message>
   <source>Plugins are paused: none answers or is called.</source>
   <translation>插件已暂停：不会回答，也不会被调用。</translation>
  </message>
  <message>
   <source>Plugins</source>
   <translation>插件</translation>
  </message>
  <message>
   <source>No setting matches.</source>
   <translation>没有匹配的设置。</translation>
  </message>
  <message>
   <source>Export settings</source>
   <translation>导出设置</translation>
  </message>
  <message>
   <source>Import settings</source>
   <translation>导入设置</translation>
  </message>
  <message>
   <source>Search settings</source>
   <translation>搜索设置</translation>
  </message>
  <message>
   <source>The settings could not be exported: {why}.</source>
   <translation>无法导出设置：{why}。</translation>
  </message>
  <message>
   <source>This file holds no settings of Moat.</source>
   <translation>此文件不包含 Moat 的设置。</translation>
  </message>
  <message>
   <source>Settings</source>
   <translation>设置</translation>
  </message>
  <message>
   <source>Language models on this computer, for the programs you work with.</source>
   <translation>在这台电脑上运行的语言模型，供您使用的程序调用。</translation>
  </message>
  <message>
   <source>Looking at this machine…</source>
   <translation>正在查看这台机器…</translation>
  </message>
  <message>
   <source>Begin at once with the small starter model</source>
   <translation>立即用小型入门模型开始</translation>
  </message>
  <message>
   <source>Start Moat when I log in</source>
   <translation>登录时启动 Moat</translation>
  </message>
  <message>
   <source>I have models elsewhere</source>
   <translation>我在别处有模型</translation>
  </message>
  <message>
   <source>Begin</source>
   <translation>开始</translation>
  </message>
  <message>
   <source>Download {name} ({size}), the best for this machine</source>
   <translation>下载 {name}（{size}），最适合这台机器</translation>
  </message>
  <message>
   <source>{total} of memory, {free} free, {cores} processor cores.</source>
   <translation>内存 {total}，空闲 {free}，处理器核心 {cores} 个。</translation>
  </message>
  <message>
   <source>A folder with models</source>
   <translation>存放模型的文件夹</translation>
  </message>
  <message>
   <source>This machine</source>
   <translation>这台机器</translation>
  </message>
  <message>
   <source>Which model should answer?</source>
   <translation>由哪个模型回答？</translation>
  </message>
  <message>
   <source>Welcome to Moat</source>
   <translation>欢迎使用 Moat</translation>
  </message>
  <message>
   <source>Where models live</source>
   <translation>模型存放位置</translation>
  </message>
  <message>
   <source>Pages at {origin} may not connect. Allow this origin below.</source>
   <translation>来自 {origin} 的页面不能连接。请在下方允许此来源。</translation>
  </message>
  <message>
   <source>{method} {path} was answered in {ms} ms.</source>
   <translation>{method} {path} 在 {ms} 毫秒内得到回应。</translation>
  </message>
  <message>
   <source>The access key is missing or wrong.</source>
   <translation>访问密钥缺失或错误。</translation>
  </message>
  <message>
   <source>{path} answered something this client cannot read.</source>
   <translation>{path} 返回了此客户端无法读取的内容。</translation>
  </message>
  <message>
   <source>the server answered with status {status}.</source>
   <translation>服务器返回状态 {status}。</translation>
  </message>
  <message>
   <source>Nothing answered at {address}. Is Moat started?</source>
   <translation>{address} 没有回应。Moat 启动了吗？</translation>
  </message>
  <message>
   <source>The answer does not let {origin} read it.</source>
   <translation>该回应不允许 {origin} 读取。</translation>
  </message>
  <message>
   <source>The language changes when Moat is started again.</source>
   <translation>重新启动 Moat 后语言才会改变。</translation>
  </message>
  <message>
   <source>Stopped</source>
   <translation>已停止</translation>
  </message>
  <message>
   <source>Loading</source>
   <translation>加载中</translation>
  </message>
  <message>
   <source>Ready</source>
   <translation>就绪</translation>
  </message>
  <message>
   <source>Answering</source>
   <translation>正在回答</translation>
  </message>
  <message>
   <source>Needs attention</source>
   <translation>需要注意</translation>
  </message>
  <message>
   <source>Try to start it again. If it fails again, the log says more.</source>
   <translation>请再启动一次。如果仍然失败，日志里有更多信息。</translation>
  </message>
  <message>
   <source>Restart it; answers that are being written are lost. It may also wake up by itself.</source>
   <translation>请重新启动；正在生成的回答会丢失。它也可能自行恢复。</translation>
  </message>
  <message>
   <source>Nothing is served. Start Moat to let programs on this computer connect.</source>
   <translation>没有提供服务。启动 Moat，让这台电脑上的程序可以连接。</translation>
  </message>
  <message>
   <source>Waiting for its turn</source>
   <translation>等待轮到它</translation>
  </message>
  <message>
   <source>Reading the prompt</source>
   <translation>正在读取提问</translation>
  </message>
  <message>
   <source>{percent} read. Requests wait until it is ready.</source>
   <translation>已读取 {percent}。请求会等到它就绪。</translation>
  </message>
  <message>
   <source>Pick another model below, or close other programs and try again.</source>
   <translation>请在下方选择另一个模型，或关闭其他程序后重试。</translation>
  </message>
  <message>
   <source>No model is loaded. Pick one below; a request loads it too.</source>
   <translation>没有加载模型。请在下方选择；请求也会加载它。</translation>
  </message>
  <message>
   <source>Moat cannot serve</source>
   <translation>Moat 无法提供服务</translation>
  </message>
  <message>
   <source>Moat does not respond</source>
   <translation>Moat 没有响应</translation>
  </message>
  <message>
   <source>Moat is stopped</source>
   <translation>Moat 已停止</translation>
  </message>
  <message>
   <source>Moat is starting</source>
   <translation>Moat 正在启动</translation>
  </message>
  <message>
   <source>This takes a second or two.</source>
   <translation>需要一两秒钟。</translation>
  </message>
  <message>
   <source>Moat is ready</source>
   <translation>Moat 已就绪</translation>
  </message>
  <message>
   <source>Answering 1 request</source>
   <translation>正在回答 1 个请求</translation>
  </message>
  <message>
   <source>{tokens} tokens of context</source>
   <translation>{tokens} 个词元的上下文</translation>
  </message>
  <message>
   <source>{done} of {total} tokens</source>
   <translation>{done} / {total} 个词元</translation>
  </message>
  <message>
   <source>Reading the prompt: {done}</source>
   <translation>正在读取提问：{done}</translation>
  </message>
  <message>
   <source>Writing: {count} tokens so far</source>
   <translation>正在写：目前 {count} 个词元</translation>
  </message>
  <message>
   <source>Loading {name}</source>
   <translation>正在加载 {name}</translation>
  </message>
  <message>
   <source>{name} could not be loaded</source>
   <translation>无法加载 {name}</translation>
  </message>
  <message>
   <source>Answering {count} requests</source>
   <translation>正在回答 {count} 个请求</translation>
  </message>
  <message>
   <source>{name} is at work.</source>
   <translation>{name} 正在工作。</translation>
  </message>
  <message>
   <source>{name} answers on this computer.</source>
   <translation>{name} 在这台电脑上回答。</translation>
  </message>
  <message>
   <source>{plugin} needs a little more</source>
   <translation>{plugin} 还需要一些信息</translation>
  </message>
  <message>
   <source>Model</source>
   <translation>模型</translation>
  </message>
  <message>
   <source>Open Moat</source>
   <translation>打开 Moat</translation>
  </message>
  <message>
   <source>Quit Moat</source>
   <translation>退出 Moat</translation>
  </message>
  <message>
   <source>A plugin asks for your permission</source>
   <translation>有插件请求您的许可</translation>
  </message>
  <message>
   <source>Open Moat to fill in its form.</source>
   <translation>打开 Moat 填写表单。</translation>
  </message>
  <message>
   <source>Stop</source>
   <translation>停止</translation>
  </message>
  <message>
   <source>Restart</source>
   <translation>重新启动</translation>
  </message>
  <message>
   <source>Start</source>
   <translation>启动</translation>
  </message>
  <message>
   <source>Unload</source>
   <translation>卸载</translation>
  </message>
  <message>
   <source>Unnamed client</source>
   <translation>未命名的客户端</translation>
  </message>
  <message>
   <source>Download finished</source>
   <translation>下载完成</translation>
  </message>
  <message>
   <source>Copy address</source>
   <translation>复制地址</translation>
  </message>
  <message>
   <source>Running requests ({count})</source>
   <translation>进行中的请求（{count}）</translation>
  </message>
  <message>
   <source>Cancel {who}: {what}</source>
   <translation>取消 {who}：{what}</translation>
  </message>
  <message>
   <source>Pause plugins</source>
   <translation>暂停插件</translation>
  </message>
  <message>
   <source>Download failed</source>
   <translation>下载失败</translation>
  </message>
  <message>
   <source>That did not work</source>
   <translation>没有成功</translation>
  </message>
  <message>
   <source>No model is installed</source>
   <translation>没有安装模型</translation>
  </message>
  <message>
   <source>Look for a new version</source>
   <translation>检查新版本</translation>
  </message>
  <message>
   <source>Licences</source>
   <translation>许可证</translation>
  </message>
  <message>
   <source>This is the newest version that was announced.</source>
   <translation>这是已发布的最新版本。</translation>
  </message>
  <message>
   <source>Text of the licence</source>
   <translation>许可证全文</translation>
  </message>
  <message>
   <source>About Moat</source>
   <translation>关于 Moat</translation>
  </message>
  <message>
   <source>Version {version}</source>
   <translation>版本 {version}</translation>
  </message>
  <message>
   <source>Version {version} is there: {page}</source>
   <translation>新版本 {version} 已发布：{page}</translation>
  </message>
  <message>
   <source>No requests at the moment.</source>
   <translation>目前没有请求。</translation>
  </message>
  <message>
   <source>Tokens per second in the last minutes</source>
   <translation>最近几分钟的每秒词元数</translation>
  </message>
  <message>
   <source>Memory in the last minutes</source>
   <translation>最近几分钟的内存</translation>
  </message>
  <message>
   <source>tokens per second</source>
   <translation>词元/秒</translation>
  </message>
  <message>
   <source>running</source>
   <translation>进行中</translation>
  </message>
  <message>
   <source>waiting</source>
   <translation>等待中</translation>
  </message>
  <message>
   <source>Cancel</source>
   <translation>取消</translation>
  </message>
  <message>
   <source>memory in use</source>
   <translation>已用内存</translation>
  </message>
  <message>
   <source>Cancel this request</source>
   <translation>取消此请求</translation>
  </message>
  <message>
   <source>Cancel the request of {who}</source>
   <translation>取消 {who} 的请求</translation>
  </message>
  <message>
   <source>Answer</source>
   <translation>回答</translation>
  </message>
  <message>
   <source>Choose</source>
   <translation>请选择</translation>
  </message>
  <message>
   <source>Yes</source>
   <translation>是</translation>
  </message>
  <message>
   <source>Choose a file</source>
   <translation>选择文件</translation>
  </message>
  <message>
   <source>One in a line</source>
   <translation>每行一个</translation>
  </message>
  <message>
   <source>a whole number</source>
   <translation>整数</translation>
  </message>
  <message>
   <source>a number</source>
   <translation>数字</translation>
  </message>
  <message>
   <source>Allow once</source>
   <translation>允许一次</translation>
  </message>
  <message>
   <source>Always allow</source>
   <translation>始终允许</translation>
  </message>
  <message>
   <source>Deny</source>
   <translation>拒绝</translation>
  </message>
  <message>
   <source>What would be sent</source>
   <translation>将要发送的内容</translation>
  </message>
  <message>
   <source>It only reads.</source>
   <translation>它只读取。</translation>
  </message>
  <message>
   <source>It changes something. Look at what would be sent before you allow it.</source>
   <translation>它会更改内容。允许之前请查看将要发送的内容。</translation>
  </message>
  <message>
   <source>It may do harm that cannot be undone.</source>
   <translation>它可能造成无法撤销的损害。</translation>
  </message>
  <message>
   <source>Allow once: {what}</source>
   <translation>允许一次：{what}</translation>
  </message>
  <message>
   <source>{plugin} asks: {what}</source>
   <translation>{plugin} 请求：{what}</translation>
  </message>
  <message>
   <source>Always allow: {what}</source>
   <translation>始终允许：{what}</translation>
  </message>
  <message>
   <source>Deny: {what}</source>
   <translation>拒绝：{what}</translation>
  </message>
  <message>
   <source>Dismiss</source>
   <translation>关闭</translation>
  </message>
  <message>
   <source>Search chats</source>
   <translation>搜索对话</translation>
  </message>
  <message>
   <source>Kept chats</source>
   <translation>保存的对话</translation>
  </message>
  <message>
   <source>Delete</source>
   <translation>删除</translation>
  </message>
  <message>
   <source>No chat matches.</source>
   <translation>没有匹配的对话。</translation>
  </message>
  <message>
   <source>Chats are kept here, on this computer.</source>
   <translation>对话保存在这里，就在这台电脑上。</translation>
  </message>
  <message>
   <source>Delete the chosen chat</source>
   <translation>删除选中的对话</translation>
  </message>
  <message>
   <source>Automatic</source>
   <translation>自动</translation>
  </message>
  <message>
   <source>Protocol</source>
   <translation>协议</translation>
  </message>
  <message>
   <source>Show raw events</source>
   <translation>显示原始事件</translation>
  </message>
  <message>
   <source>System prompt</source>
   <translation>系统提示</translation>
  </message>
  <message>
   <source>How it should behave</source>
   <translation>它应当如何表现</translation>
  </message>
  <message>
   <source>Temperature</source>
   <translation>温度</translation>
  </message>
  <message>
   <source>Longest answer</source>
   <translation>最长回答</translation>
  </message>
  <message>
   <source>OpenBB's protocol carries no system prompt and no sampling.</source>
   <translation>OpenBB 的协议不含系统提示和采样参数。</translation>
  </message>
  <message>
   <source>Test</source>
   <translation>测试</translation>
  </message>
  <message>
   <source>Test again</source>
   <translation>再测一次</translation>
  </message>
  <message>
   <source>Testing…</source>
   <translation>正在测试…</translation>
  </message>
  <message>
   <source>Address for {name}</source>
   <translation>{name} 的地址</translation>
  </message>
  <message>
   <source>the address for {name}</source>
   <translation>{name} 的地址</translation>
  </message>
  <message>
   <source>What to paste for {name}</source>
   <translation>为 {name} 粘贴的内容</translation>
  </message>
  <message>
   <source>what to paste for {name}</source>
   <translation>为 {name} 粘贴的内容</translation>
  </message>
  <message>
   <source>Test {name}</source>
   <translation>测试 {name}</translation>
  </message>
  <message>
   <source>Your message</source>
   <translation>您的消息</translation>
  </message>
  <message>
   <source>Send</source>
   <translation>发送</translation>
  </message>
  <message>
   <source>Stop the answer</source>
   <translation>停止回答</translation>
  </message>
  <message>
   <source>Copied</source>
   <translation>已复制</translation>
  </message>
  <message>
   <source>Copied {what}</source>
   <translation>已复制{what}</translation>
  </message>
  <message>
   <source>Copy {what}</source>
   <translation>复制{what}</translation>
  </message>
  <message>
   <source>Download</source>
   <translation>下载</translation>
  </message>
  <message>
   <source>Show files</source>
   <translation>显示文件</translation>
  </message>
  <message>
   <source>Search Hugging Face</source>
   <translation>搜索 Hugging Face</translation>
  </message>
  <message>
   <source>Search</source>
   <translation>搜索</translation>
  </message>
  <message>
   <source>Back</source>
   <translation>返回</translation>
  </message>
  <message>
   <source>For this machine</source>
   <translation>适合这台机器</translation>
  </message>
  <message>
   <source>Good models of each size, judged for this computer.</source>
   <translation>各种大小的好模型，已按这台电脑评估。</translation>
  </message>
  <message>
   <source>Recommended here</source>
   <translation>本机推荐</translation>
  </message>
  <message>
   <source>Download {name}</source>
   <translation>下载 {name}</translation>
  </message>
  <message>
   <source>Installed</source>
   <translation>已安装</translation>
  </message>
  <message>
   <source>terms to accept</source>
   <translation>需接受条款</translation>
  </message>
  <message>
   <source>Back to the list</source>
   <translation>返回列表</translation>
  </message>
  <message>
   <source>No repository with GGUF files matches.</source>
   <translation>没有匹配的 GGUF 仓库。</translation>
  </message>
  <message>
   <source>Its terms must be accepted on {address} first.</source>
   <translation>需先在 {address} 接受其条款。</translation>
  </message>
  <message>
   <source>Searching…</source>
   <translation>正在搜索…</translation>
  </message>
  <message>
   <source>{count} downloads</source>
   <translation>{count} 次下载</translation>
  </message>
  <message>
   <source>Found for “{text}”</source>
   <translation>“{text}”的结果</translation>
  </message>
  <message>
   <source>{count} parts</source>
   <translation>{count} 个部分</translation>
  </message>
  <message>
   <source>Show files of {name}</source>
   <translation>显示 {name} 的文件</translation>
  </message>
  <message>
   <source>When you connect from a web page and nothing appears here, the browser kept the request back.
Chrome, Edge (142 and later): the icon left of the address, then “Local network access”, then Allow; reload the page.
Firefox: allow it when it asks to reach devices on your local network.
Brave: the shield icon, then allow localhost for this site.
Safari does not let a secure page reach this computer; use another browser.</source>
   <translation>如果您从网页连接而这里什么都没有出现，说明浏览器拦住了请求。
Chrome、Edge（142 及以上）：点击地址左侧的图标，选择“本地网络访问”，再选允许；然后重新加载页面。
Firefox：当它询问是否访问本地网络设备时请允许。
Brave：点击盾牌图标，为此网站允许 localhost。
Safari 不允许安全页面访问这台电脑；请使用其他浏览器。</translation>
  </message>
  <message>
   <source>Nothing arrives?</source>
   <translation>什么都没收到？</translation>
  </message>
  <message>
   <source>No web page has asked for anything yet. Who comes or is turned away is shown here.</source>
   <translation>还没有网页来过。来访或被拒绝的都会显示在这里。</translation>
  </message>
  <message>
   <source>This page was turned away: its origin is not allowed.</source>
   <translation>此页面被拒绝：它的来源未被允许。</translation>
  </message>
  <message>
   <source>The access key was missing or wrong.</source>
   <translation>访问密钥缺失或错误。</translation>
  </message>
  <message>
   <source>It asked whether it may connect and was told yes; no request followed.</source>
   <translation>它询问能否连接并得到允许；之后没有请求。</translation>
  </message>
  <message>
   <source>Connected.</source>
   <translation>已连接。</translation>
  </message>
  <message>
   <source>Allow</source>
   <translation>允许</translation>
  </message>
  <message>
   <source>Copy the key</source>
   <translation>复制密钥</translation>
  </message>
  <message>
   <source>At the door</source>
   <translation>门口</translation>
  </message>
  <message>
   <source>Allow {origin}</source>
   <translation>允许 {origin}</translation>
  </message>
  <message>
   <source>less than a minute left</source>
   <translation>剩余不到一分钟</translation>
  </message>
  <message>
   <source>Remove {name} from this list</source>
   <translation>从列表中移除 {name}</translation>
  </message>
  <message>
   <source>Cancel {name}</source>
   <translation>取消 {name}</translation>
  </message>
  <message>
   <source>Nothing is being downloaded.</source>
   <translation>没有正在进行的下载。</translation>
  </message>
  <message>
   <source>{done} of {total}</source>
   <translation>{done} / {total}</translation>
  </message>
  <message>
   <source>Checking every byte against the hub's fingerprint</source>
   <translation>正在与仓库的指纹逐字节核对</translation>
  </message>
  <message>
   <source>{hours} h {minutes} min left</source>
   <translation>剩余 {hours} 小时 {minutes} 分钟</translation>
  </message>
  <message>
   <source>Waiting</source>
   <translation>等待中</translation>
  </message>
  <message>
   <source>Finished and checked</source>
   <translation>已完成并核对</translation>
  </message>
  <message>
   <source>It failed.</source>
   <translation>失败了。</translation>
  </message>
  <message>
   <source>{minutes} min left</source>
   <translation>剩余 {minutes} 分钟</translation>
  </message>
  <message>
   <source>{name}: {percent} downloaded</source>
   <translation>{name}：已下载 {percent}</translation>
  </message>
  <message>
   <source>Pause {name}</source>
   <translation>暂停 {name}</translation>
  </message>
  <message>
   <source>Resume {name}</source>
   <translation>继续 {name}</translation>
  </message>
  <message>
   <source>Try {name} again</source>
   <translation>重试 {name}</translation>
  </message>
  <message>
   <source>Explain in two sentences what a moat is in investing.</source>
   <translation>用两句话解释投资中的护城河是什么。</translation>
  </message>
  <message>
   <source>Write a short table with three kinds of bonds and their risks.</source>
   <translation>写一个简短的表格，列出三种债券及其风险。</translation>
  </message>
  <message>
   <source>Write a Python function that computes a moving average.</source>
   <translation>写一个计算移动平均的 Python 函数。</translation>
  </message>
  <message>
   <source>Moat is not serving</source>
   <translation>Moat 没有提供服务</translation>
  </message>
  <message>
   <source>One moment.</source>
   <translation>请稍候。</translation>
  </message>
  <message>
   <source>Everything you write stays on this computer.</source>
   <translation>您写的一切都留在这台电脑上。</translation>
  </message>
  <message>
   <source>Start it to chat with a model.</source>
   <translation>启动它，即可与模型对话。</translation>
  </message>
  <message>
   <source>No model is loaded</source>
   <translation>没有加载模型</translation>
  </message>
  <message>
   <source>Your first message loads it, or pick one now.</source>
   <translation>您的第一条消息会加载它，也可以现在选择。</translation>
  </message>
  <message>
   <source>Pick a model</source>
   <translation>选择模型</translation>
  </message>
  <message>
   <source>Pick another model</source>
   <translation>选择另一个模型</translation>
  </message>
  <message>
   <source>A question to ask</source>
   <translation>一个问题</translation>
  </message>
  <message>
   <source>{percent}. You can write already.</source>
   <translation>{percent}。您可以先写。</translation>
  </message>
  <message>
   <source>Ask {name}</source>
   <translation>向 {name} 提问</translation>
  </message>
  <message>
   <source>Runs well</source>
   <translation>运行良好</translation>
  </message>
  <message>
   <source>Tight</source>
   <translation>勉强</translation>
  </message>
  <message>
   <source>Does not fit</source>
   <translation>放不下</translation>
  </message>
  <message>
   <source>Not known yet</source>
   <translation>尚不清楚</translation>
  </message>
  <message>
   <source>{needed} of {free} free</source>
   <translation>{needed} / 空闲 {free}</translation>
  </message>
  <message>
   <source>On</source>
   <translation>开</translation>
  </message>
  <message>
   <source>Reset “{name}”</source>
   <translation>重置“{name}”</translation>
  </message>
  <message>
   <source>Continue</source>
   <translation>继续</translation>
  </message>
  <message>
   <source>Do not answer</source>
   <translation>不回答</translation>
  </message>
  <message>
   <source>{name} must be {what}.</source>
   <translation>{name} 必须是{what}。</translation>
  </message>
  <message>
   <source>Loading the model</source>
   <translation>正在加载模型</translation>
  </message>
  <message>
   <source>Starting</source>
   <translation>正在启动</translation>
  </message>
  <message>
   <source>{do} serving</source>
   <translation>{do}服务</translation>
  </message>
  <message>
   <source>Accept the terms on the model's page, then paste a token with the right to read.</source>
   <translation>请先在模型页面接受条款，然后粘贴具有读取权限的令牌。</translation>
  </message>
  <message>
   <source>Token of Hugging Face</source>
   <translation>Hugging Face 令牌</translation>
  </message>
  <message>
   <source>Save</source>
   <translation>保存</translation>
  </message>
  <message>
   <source>Forget</source>
   <translation>删除</translation>
  </message>
  <message>
   <source>Save the token</source>
   <translation>保存令牌</translation>
  </message>
  <message>
   <source>Forget the token</source>
   <translation>删除令牌</translation>
  </message>
  <message>
   <source>Models with terms</source>
   <translation>需接受条款的模型</translation>
  </message>
  <message>
   <source>The token is kept with your secrets.</source>
   <translation>令牌已与您的机密一起保存。</translation>
  </message>
  <message>
   <source>The token is forgotten.</source>
   <translation>令牌已删除。</translation>
  </message>
  <message>
   <source>Load</source>
   <translation>加载</translation>
  </message>
  <message>
   <source>Details</source>
   <translation>详情</translation>
  </message>
  <message>
   <source>Keep</source>
   <translation>保留</translation>
  </message>
  <message>
   <source>No model is on this computer yet. Discover one, or add a file you have.</source>
   <translation>这台电脑上还没有模型。去发现一个，或添加您已有的文件。</translation>
  </message>
  <message>
   <source>Discover models</source>
   <translation>发现模型</translation>
  </message>
  <message>
   <source>Use them</source>
   <translation>使用它们</translation>
  </message>
  <message>
   <source>Answers now</source>
   <translation>正在使用</translation>
  </message>
  <message>
   <source>This frees {size} on the disk.</source>
   <translation>这会释放 {size} 磁盘空间。</translation>
  </message>
  <message>
   <source>{count} models, {size}, in {path}</source>
   <translation>{count} 个模型，{size}，位于 {path}</translation>
  </message>
  <message>
   <source>Found from other programs</source>
   <translation>在其他程序中找到</translation>
  </message>
  <message>
   <source>Load {name}</source>
   <translation>加载 {name}</translation>
  </message>
  <message>
   <source>Details of {name}</source>
   <translation>{name} 的详情</translation>
  </message>
  <message>
   <source>Delete {name}</source>
   <translation>删除 {name}</translation>
  </message>
  <message>
   <source>Really delete {name}</source>
   <translation>确认删除 {name}</translation>
  </message>
  <message>
   <source>Keep {name}</source>
   <translation>保留 {name}</translation>
  </message>
  <message>
   <source>Use the models of {name}</source>
   <translation>使用 {name} 的模型</translation>
  </message>
  <message>
   <source>Context</source>
   <translation>上下文</translation>
  </message>
  <message>
   <source>How much it can read and write at once.</source>
   <translation>一次能读写多少内容。</translation>
  </message>
  <message>
   <source>Layers on the graphics card</source>
   <translation>放在显卡上的层数</translation>
  </message>
  <message>
   <source>Split across the graphics cards</source>
   <translation>在显卡之间的分配</translation>
  </message>
  <message>
   <source>Precision of the context</source>
   <translation>上下文精度</translation>
  </message>
  <message>
   <source>Answers at the same time</source>
   <translation>同时回答数</translation>
  </message>
  <message>
   <source>Processor threads</source>
   <translation>处理器线程</translation>
  </message>
  <message>
   <source>Tokens read in one step</source>
   <translation>每步读取的词元</translation>
  </message>
  <message>
   <source>More reads long prompts faster on a graphics card and takes more memory.</source>
   <translation>数值越大，显卡读取长提示越快，占用的内存也越多。</translation>
  </message>
  <message>
   <source>Flash attention</source>
   <translation>Flash Attention</translation>
  </message>
  <message>
   <source>A quarter of the memory</source>
   <translation>四分之一内存</translation>
  </message>
  <message>
   <source>{tokens} tokens</source>
   <translation>{tokens} 个词元</translation>
  </message>
  <message>
   <source>Full</source>
   <translation>完整</translation>
  </message>
  <message>
   <source>Half the memory</source>
   <translation>一半内存</translation>
  </message>
  <message>
   <source>Off</source>
   <translation>关</translation>
  </message>
  <message>
   <source>Log lines</source>
   <translation>日志行</translation>
  </message>
  <message>
   <source>Support for graphics cards added: {names}</source>
   <translation>已添加的显卡支持：{names}</translation>
  </message>
  <message>
   <source>No graphics card that models could use was found: the processor does the work.</source>
   <translation>没有找到模型可用的显卡：由处理器完成工作。</translation>
  </message>
  <message>
   <source>Look again</source>
   <translation>重新查看</translation>
  </message>
  <message>
   <source>memory</source>
   <translation>内存</translation>
  </message>
  <message>
   <source>free just now</source>
   <translation>目前空闲</translation>
  </message>
  <message>
   <source>processor cores</source>
   <translation>处理器核心</translation>
  </message>
  <message>
   <source>This build of the engine cannot use it.</source>
   <translation>此引擎版本无法使用它。</translation>
  </message>
  <message>
   <source>The graphics card is not used</source>
   <translation>显卡没有被使用</translation>
  </message>
  <message>
   <source>{name} ({backend}): {free} of {total} free</source>
   <translation>{name}（{backend}）：空闲 {free} / {total}</translation>
  </message>
  <message>
   <source>Look at this machine again</source>
   <translation>重新查看这台机器</translation>
  </message>
  <message>
   <source>this code</source>
   <translation>此代码</translation>
  </message>
  <message>
   <source>Weights</source>
   <translation>权重</translation>
  </message>
  <message>
   <source>Working space</source>
   <translation>工作空间</translation>
  </message>
  <message>
   <source>On the graphics card</source>
   <translation>在显卡上</translation>
  </message>
  <message>
   <source>1 token</source>
   <translation>1 个词元</translation>
  </message>
  <message>
   <source>{count} tokens</source>
   <translation>{count} 个词元</translation>
  </message>
  <message>
   <source>Show the reasoning</source>
   <translation>显示推理过程</translation>
  </message>
  <message>
   <source>Waiting for the first word…</source>
   <translation>等待第一个词…</translation>
  </message>
  <message>
   <source>the answer</source>
   <translation>回答</translation>
  </message>
  <message>
   <source>Edit and ask again</source>
   <translation>编辑并重新提问</translation>
  </message>
  <message>
   <source>Answer again</source>
   <translation>重新回答</translation>
  </message>
  <message>
   <source>No answer</source>
   <translation>没有回答</translation>
  </message>
  <message>
   <source>The answer broke off</source>
   <translation>回答中断了</translation>
  </message>
  <message>
   <source>You: {text}</source>
   <translation>您：{text}</translation>
  </message>
  <message>
   <source>first after {time} s</source>
   <translation>首个在 {time} 秒后</translation>
  </message>
  <message>
   <source>cut at the length limit</source>
   <translation>在长度上限处截断</translation>
  </message>
  <message>
   <source>The model gave an empty answer.</source>
   <translation>模型给出了空的回答。</translation>
  </message>
  <message>
   <source>{speed} tokens/s</source>
   <translation>{speed} 词元/秒</translation>
  </message>
  <message>
   <source>Show the chat template</source>
   <translation>显示聊天模板</translation>
  </message>
  <message>
   <source>Chat template</source>
   <translation>聊天模板</translation>
  </message>
  <message>
   <source>Show what differs</source>
   <translation>显示差异</translation>
  </message>
  <message>
   <source>Licence: {name}</source>
   <translation>许可证：{name}</translation>
  </message>
  <message>
   <source>Tool calls: {style}</source>
   <translation>工具调用：{style}</translation>
  </message>
  <message>
   <source>The file is damaged: {why}.</source>
   <translation>文件已损坏：{why}。</translation>
  </message>
  <message>
   <source>not said</source>
   <translation>未说明</translation>
  </message>
  <message>
   <source>not in its template</source>
   <translation>模板中没有</translation>
  </message>
  <message>
   <source>Sees images: {file}</source>
   <translation>可识别图像：{file}</translation>
  </message>
  <message>
   <source>Model that answers</source>
   <translation>负责回答的模型</translation>
  </message>
  <message>
   <source>Unload the model and free its memory</source>
   <translation>卸载模型并释放内存</translation>
  </message>
  <message>
   <source>None</source>
   <translation>无</translation>
  </message>
  <message>
   <source>It reaches nothing outside Moat.</source>
   <translation>它不访问 Moat 之外的任何东西。</translation>
  </message>
  <message>
   <source>Enable</source>
   <translation>启用</translation>
  </message>
  <message>
   <source>Sign in</source>
   <translation>登录</translation>
  </message>
  <message>
   <source>part of Moat</source>
   <translation>Moat 自带</translation>
  </message>
  <message>
   <source>added by you</source>
   <translation>由您添加</translation>
  </message>
  <message>
   <source>Accept and enable</source>
   <translation>接受并启用</translation>
  </message>
  <message>
   <source>What it can do</source>
   <translation>它能做什么</translation>
  </message>
  <message>
   <source>What it answers</source>
   <translation>它回答什么</translation>
  </message>
  <message>
   <source>What it needs</source>
   <translation>它需要什么</translation>
  </message>
  <message>
   <source>Try it</source>
   <translation>试一试</translation>
  </message>
  <message>
   <source>Sign out</source>
   <translation>退出登录</translation>
  </message>
  <message>
   <source>Signing in…</source>
   <translation>正在登录…</translation>
  </message>
  <message>
   <source>It runs code of its own, in a process apart.</source>
   <translation>它在单独的进程中运行自己的代码。</translation>
  </message>
  <message>
   <source>waits for your review</source>
   <translation>等待您审阅</translation>
  </message>
  <message>
   <source>enabled</source>
   <translation>已启用</translation>
  </message>
  <message>
   <source>disabled</source>
   <translation>已停用</translation>
  </message>
  <message>
   <source>works, with warnings</source>
   <translation>可用，有警告</translation>
  </message>
  <message>
   <source>partly broken</source>
   <translation>部分损坏</translation>
  </message>
  <message>
   <source>broken</source>
   <translation>已损坏</translation>
  </message>
  <message>
   <source>Ask by risk</source>
   <translation>按风险询问</translation>
  </message>
  <message>
   <source>Never</source>
   <translation>从不</translation>
  </message>
  <message>
   <source>Disable</source>
   <translation>停用</translation>
  </message>
  <message>
   <source>Remove</source>
   <translation>移除</translation>
  </message>
  <message>
   <source>Not set yet</source>
   <translation>尚未设置</translation>
  </message>
  <message>
   <source>Kept in the keychain</source>
   <translation>保存在钥匙串中</translation>
  </message>
  <message>
   <source>What {name} may do</source>
   <translation>{name} 的权限</translation>
  </message>
  <message>
   <source>It connects to: {hosts}.</source>
   <translation>它连接：{hosts}。</translation>
  </message>
  <message>
   <source>It starts: {commands}.</source>
   <translation>它启动：{commands}。</translation>
  </message>
  <message>
   <source>It asks for: {secrets}.</source>
   <translation>它需要：{secrets}。</translation>
  </message>
  <message>
   <source>Back to version {old}</source>
   <translation>回到版本 {old}</translation>
  </message>
  <message>
   <source>Remove {name}</source>
   <translation>移除 {name}</translation>
  </message>
  <message>
   <source>Show its log</source>
   <translation>显示日志</translation>
  </message>
  <message>
   <source>the log</source>
   <translation>日志</translation>
  </message>
  <message>
   <source>Read it again</source>
   <translation>重新读取</translation>
  </message>
  <message>
   <source>Nothing has been written yet.</source>
   <translation>还没有写入任何内容。</translation>
  </message>
  <message>
   <source>Log of {name}</source>
   <translation>{name} 的日志</translation>
  </message>
  <message>
   <source>Show the log of {name}</source>
   <translation>显示 {name} 的日志</translation>
  </message>
  <message>
   <source>It may also change and delete (PUT, PATCH, DELETE)</source>
   <translation>也允许修改和删除（PUT、PATCH、DELETE）</translation>
  </message>
  <message>
   <source>Choose a folder</source>
   <translation>选择文件夹</translation>
  </message>
  <message>
   <source>Apply</source>
   <translation>应用</translation>
  </message>
  <message>
   <source>Flow to try</source>
   <translation>要试的流程</translation>
  </message>
  <message>
   <source>A question to try it with</source>
   <translation>用来试的问题</translation>
  </message>
  <message>
   <source>What came of it</source>
   <translation>结果</translation>
  </message>
  <message>
   <source>the report</source>
   <translation>报告</translation>
  </message>
  <message>
   <source>Running…</source>
   <translation>运行中…</translation>
  </message>
  <message>
   <source>Dry run</source>
   <translation>试运行</translation>
  </message>
  <message>
   <source>Mock</source>
   <translation>模拟</translation>
  </message>
  <message>
   <source>Run</source>
   <translation>运行</translation>
  </message>
  <message>
   <source>Done.</source>
   <translation>完成。</translation>
  </message>
  <message>
   <source>Dry run: shows the request, sends nothing</source>
   <translation>试运行：显示请求，不发送任何内容</translation>
  </message>
  <message>
   <source>Mock: goes on with made-up answers</source>
   <translation>模拟：用虚构的回答继续</translation>
  </message>
  <message>
   <source>Run it for real</source>
   <translation>真正运行</translation>
  </message>
  <message>
   <source>Raw events</source>
   <translation>原始事件</translation>
  </message>
  <message>
   <source>The events of the next answer appear here.</source>
   <translation>下一次回答的事件会显示在这里。</translation>
  </message>
  <message>
   <source>the raw events</source>
   <translation>原始事件</translation>
  </message>
  <message>
   <source>Time</source>
   <translation>时间</translation>
  </message>
  <message>
   <source>Client</source>
   <translation>客户端</translation>
  </message>
  <message>
   <source>Route</source>
   <translation>路径</translation>
  </message>
  <message>
   <source>Tokens</source>
   <translation>词元</translation>
  </message>
  <message>
   <source>Took</source>
   <translation>用时</translation>
  </message>
  <message>
   <source>Ended</source>
   <translation>结果</translation>
  </message>
  <message>
   <source>Host</source>
   <translation>主机</translation>
  </message>
  <message>
   <source>Why</source>
   <translation>原因</translation>
  </message>
  <message>
   <source>Received</source>
   <translation>接收</translation>
  </message>
  <message>
   <source>Answered</source>
   <translation>已回答</translation>
  </message>
  <message>
   <source>Cut at the limit</source>
   <translation>达到上限</translation>
  </message>
  <message>
   <source>Asked for a tool</source>
   <translation>请求工具</translation>
  </message>
  <message>
   <source>Client left</source>
   <translation>客户端离开</translation>
  </message>
  <message>
   <source>Cancelled</source>
   <translation>已取消</translation>
  </message>
  <message>
   <source>Moat stopped</source>
   <translation>Moat 停止</translation>
  </message>
  <message>
   <source>unnamed</source>
   <translation>未命名</translation>
  </message>
  <message>
   <source>Safari lets a page reach this machine by HTTPS only. The certificate is made here, holds for localhost alone, and is renewed by itself.</source>
   <translation>Safari 只允许网页通过 HTTPS 访问本机。证书在本机生成，仅对 localhost 有效，并会自动续期。</translation>
  </message>
  <message>
   <source>Trust it once, in a terminal. In Firefox import the file as an authority:</source>
   <translation>在终端中信任一次即可。在 Firefox 中请将该文件作为证书颁发机构导入：</translation>
  </message>
  <message>
   <source>Serve HTTPS too</source>
   <translation>同时提供 HTTPS</translation>
  </message>
  <message>
   <source>The address for HTTPS</source>
   <translation>HTTPS 地址</translation>
  </message>
  <message>
   <source>the address for HTTPS</source>
   <translation>HTTPS 地址</translation>
  </message>
  <message>
   <source>The command that trusts the certificate</source>
   <translation>信任该证书的命令</translation>
  </message>
  <message>
   <source>the command</source>
   <translation>命令</translation>
  </message>
  <message>
   <source>Conversation</source>
   <translation>会话</translation>
  </message>
  <message>
   <source>This desktop shows no tray icons, so Moat lives in this window. Closing the window quits Moat.</source>
   <translation>此桌面不显示托盘图标，因此 Moat 留在这个窗口里。关闭窗口即退出 Moat。</translation>
  </message>
  <message>
   <source>Moat goes on in the tray. Quit it from the menu of its icon.</source>
   <translation>Moat 在托盘中继续运行。可从图标菜单退出。</translation>
  </message>
  <message>
   <source>Give this address to OpenBB, an OpenAI client or CopilotKit.</source>
   <translation>把这个地址交给 OpenBB、OpenAI 客户端或 CopilotKit。</translation>
  </message>
  <message>
   <source>No model is on this computer yet. Put a GGUF file into the models folder.</source>
   <translation>这台电脑上还没有模型。请把 GGUF 文件放入模型文件夹。</translation>
  </message>
  <message>
   <source>Everything</source>
   <translation>全部</translation>
  </message>
  <message>
   <source>Info and above</source>
   <translation>信息及以上</translation>
  </message>
  <message>
   <source>Warnings and errors</source>
   <translation>警告和错误</translation>
  </message>
  <message>
   <source>Errors only</source>
   <translation>仅错误</translation>
  </message>
  <message>
   <source>Server</source>
   <translation>服务器</translation>
  </message>
  <message>
   <source>Port</source>
   <translation>端口</translation>
  </message>
  <message>
   <source>The next free one is used if taken.</source>
   <translation>若被占用，则使用下一个空闲端口。</translation>
  </message>
  <message>
   <source>Who may connect</source>
   <translation>谁可以连接</translation>
  </message>
  <message>
   <source>'network' lets other machines connect and always requires the access key.</source>
   <translation>“network”允许其他机器连接，并始终要求访问密钥。</translation>
  </message>
  <message>
   <source>Loopback</source>
   <translation>仅本机</translation>
  </message>
  <message>
   <source>Network</source>
   <translation>网络</translation>
  </message>
  <message>
   <source>Require an access key</source>
   <translation>要求访问密钥</translation>
  </message>
  <message>
   <source>Clients must send it as a bearer token. Always on for 'network'.</source>
   <translation>客户端须以 Bearer 令牌发送。对“network”始终开启。</translation>
  </message>
  <message>
   <source>Web pages that may connect</source>
   <translation>可以连接的网页</translation>
  </message>
  <message>
   <source>Exact origins, for example https://pro.openbb.co.</source>
   <translation>完整的来源，例如 https://pro.openbb.co。</translation>
  </message>
  <message>
   <source>Extra host names</source>
   <translation>额外的主机名</translation>
  </message>
  <message>
   <source>Names besides localhost clients may use.</source>
   <translation>除 localhost 外客户端可用的名称。</translation>
  </message>
  <message>
   <source>Also serve HTTPS on this machine</source>
   <translation>在本机上同时提供 HTTPS</translation>
  </message>
  <message>
   <source>For Safari. The Connect page shows the certificate to trust.</source>
   <translation>用于 Safari。“连接”页面会显示需要信任的证书。</translation>
  </message>
  <message>
   <source>Port for HTTPS</source>
   <translation>HTTPS 端口</translation>
  </message>
  <message>
   <source>Largest request (MB)</source>
   <translation>最大请求（MB）</translation>
  </message>
  <message>
   <source>Requests at the same time</source>
   <translation>同时请求数</translation>
  </message>
  <message>
   <source>Serve as soon as Moat starts</source>
   <translation>Moat 启动后立即提供服务</translation>
  </message>
  <message>
   <source>The model that answers. Empty: the starter.</source>
   <translation>负责回答的模型。留空：入门模型。</translation>
  </message>
  <message>
   <source>Load the model when Moat starts</source>
   <translation>Moat 启动时加载模型</translation>
  </message>
  <message>
   <source>Context (tokens)</source>
   <translation>上下文（词元）</translation>
  </message>
  <message>
   <source>0: what the model allows.</source>
   <translation>0：模型允许的大小。</translation>
  </message>
  <message>
   <source>CPU threads</source>
   <translation>CPU 线程</translation>
  </message>
  <message>
   <source>0: all cores.</source>
   <translation>0：所有核心。</translation>
  </message>
  <message>
   <source>Layers on the GPU</source>
   <translation>放在 GPU 上的层数</translation>
  </message>
  <message>
   <source>-1: as many as fit.</source>
   <translation>-1：能放多少放多少。</translation>
  </message>
  <message>
   <source>Cache precision</source>
   <translation>缓存精度</translation>
  </message>
  <message>
   <source>F16</source>
   <translation>F16</translation>
  </message>
  <message>
   <source>Q8_0</source>
   <translation>Q8_0</translation>
  </message>
  <message>
   <source>Q4_0</source>
   <translation>Q4_0</translation>
  </message>
  <message>
   <source>Prompt tokens read at once</source>
   <translation>一次读取的提示词元数</translation>
  </message>
  <message>
   <source>More reads long prompts faster on a GPU and needs more memory.</source>
   <translation>数值越大，GPU 读取长提示越快，但需要更多内存。</translation>
  </message>
  <message>
   <source>Share of each GPU</source>
   <translation>每块 GPU 的份额</translation>
  </message>
  <message>
   <source>For example 3 and 1: three quarters on the first. Empty: by free memory.</source>
   <translation>例如 3 和 1：四分之三放在第一块上。留空：按空闲内存分配。</translation>
  </message>
  <message>
   <source>Auto</source>
   <translation>自动</translation>
  </message>
  <message>
   <source>Memory for earlier conversations (MB)</source>
   <translation>用于较早对话的内存（MB）</translation>
  </message>
  <message>
   <source>Disk for earlier conversations (MB)</source>
   <translation>用于早先对话的磁盘空间（MB）</translation>
  </message>
  <message>
   <source>Long ones need not be read again after a restart. 0: nothing is written.</source>
   <translation>重启后无需重新读取长对话。0：不写入磁盘。</translation>
  </message>
  <message>
   <source>Guess ahead from the prompt</source>
   <translation>根据提问预测后文</translation>
  </message>
  <message>
   <source>Faster on quotes and tables.</source>
   <translation>对引用和表格更快。</translation>
  </message>
  <message>
   <source>Draft model</source>
   <translation>草稿模型</translation>
  </message>
  <message>
   <source>A small GGUF file of the same family that guesses ahead. Empty: none.</source>
   <translation>同系列的小型 GGUF 文件，用于提前猜测。留空：不使用。</translation>
  </message>
  <message>
   <source>LoRA adapters (GGUF files)</source>
   <translation>LoRA 适配器（GGUF 文件）</translation>
  </message>
  <message>
   <source>Tools are described as</source>
   <translation>工具描述方式</translation>
  </message>
  <message>
   <source>For models without tool words of their own. TypeScript is shorter.</source>
   <translation>用于自身没有工具格式的模型。TypeScript 更短。</translation>
  </message>
  <message>
   <source>Typescript</source>
   <translation>TypeScript</translation>
  </message>
  <message>
   <source>Json</source>
   <translation>JSON</translation>
  </message>
  <message>
   <source>Requests that may wait</source>
   <translation>可以等待的请求</translation>
  </message>
  <message>
   <source>Unload when idle (minutes)</source>
   <translation>空闲多久后卸载（分钟）</translation>
  </message>
  <message>
   <source>0: never.</source>
   <translation>0：从不。</translation>
  </message>
  <message>
   <source>Memory for loaded models (MB)</source>
   <translation>已加载模型的内存（MB）</translation>
  </message>
  <message>
   <source>0: no limit.</source>
   <translation>0：不限。</translation>
  </message>
  <message>
   <source>More folders with models</source>
   <translation>更多模型文件夹</translation>
  </message>
  <message>
   <source>Models used where they lie</source>
   <translation>在原处使用的模型</translation>
  </message>
  <message>
   <source>GGUF files, not copied.</source>
   <translation>GGUF 文件，不复制。</translation>
  </message>
  <message>
   <source>Folder with support for graphics cards</source>
   <translation>显卡支持文件夹</translation>
  </message>
  <message>
   <source>Backends made for this engine. Empty: 'backends' beside the models.</source>
   <translation>为此引擎构建的后端。留空：模型旁的 backends 文件夹。</translation>
  </message>
  <message>
   <source>Copilots</source>
   <translation>Copilot</translation>
  </message>
  <message>
   <source>Longest answer to a page (tokens)</source>
   <translation>对页面的最长回答（词元）</translation>
  </message>
  <message>
   <source>Agents elsewhere</source>
   <translation>别处的代理</translation>
  </message>
  <message>
   <source>'copilotkit URL' for a CopilotKit endpoint, 'langgraph URL' for a server.</source>
   <translation>CopilotKit 端点写“copilotkit URL”，服务器写“langgraph URL”。</translation>
  </message>
  <message>
   <source>Keep conversations with pages on disk</source>
   <translation>将与页面的对话保存到磁盘</translation>
  </message>
  <message>
   <source>Off: forgotten when Moat ends; those kept before are deleted.</source>
   <translation>关：Moat 结束时忘记；之前保存的会被删除。</translation>
  </message>
  <message>
   <source>Let connected programs use plugins</source>
   <translation>允许已连接的程序使用插件</translation>
  </message>
  <message>
   <source>Calls that change something still wait for your permission here.</source>
   <translation>会更改内容的调用仍在这里等待您的许可。</translation>
  </message>
  <message>
   <source>None answers or is called, and each stays as you enabled it.</source>
   <translation>不会回答也不会被调用，各插件保持您启用时的状态。</translation>
  </message>
  <message>
   <source>When a plugin answers</source>
   <translation>插件何时回答</translation>
  </message>
  <message>
   <source>'named': only questions that begin with @plugin.</source>
   <translation>“named”：只回答以 @plugin 开头的问题。</translation>
  </message>
  <message>
   <source>Named</source>
   <translation>指名</translation>
  </message>
  <message>
   <source>Window</source>
   <translation>窗口</translation>
  </message>
  <message>
   <source>Look</source>
   <translation>外观</translation>
  </message>
  <message>
   <source>System</source>
   <translation>跟随系统</translation>
  </message>
  <message>
   <source>Light</source>
   <translation>浅色</translation>
  </message>
  <message>
   <source>Dark</source>
   <translation>深色</translation>
  </message>
  <message>
   <source>Language</source>
   <translation>语言</translation>
  </message>
  <message>
   <source>En</source>
   <translation>英语</translation>
  </message>
  <message>
   <source>Zh</source>
   <translation>中文</translation>
  </message>
  <message>
   <source>De</source>
   <translation>德语</translation>
  </message>
  <message>
   <source>Closing the window keeps Moat in the tray</source>
   <translation>关闭窗口后 Moat 留在托盘</translation>
  </message>
  <message>
   <source>Offline</source>
   <translation>离线</translation>
  </message>
  <message>
   <source>Refuse every outgoing connection.</source>
   <translation>拒绝所有外出连接。</translation>
  </message>
  <message>
   <source>Proxy</source>
   <translation>代理</translation>
  </message>
  <message>
   <source>http://host:port</source>
   <translation>http://host:port</translation>
  </message>
  <message>
   <source>Extra certificate authority (PEM file)</source>
   <translation>额外的证书颁发机构（PEM 文件）</translation>
  </message>
  <message>
   <source>Model hub</source>
   <translation>模型仓库</translation>
  </message>
  <message>
   <source>A mirror of Hugging Face. Empty: HF_ENDPOINT, else huggingface.co.</source>
   <translation>Hugging Face 的镜像。留空：HF_ENDPOINT，否则 huggingface.co。</translation>
  </message>
  <message>
   <source>Storage hosts of the hub</source>
   <translation>仓库的存储主机</translation>
  </message>
  <message>
   <source>Domains a mirror may send downloads to, besides its own.</source>
   <translation>除自身外，镜像可以把下载转往的域名。</translation>
  </message>
  <message>
   <source>Download limit (MB/s)</source>
   <translation>下载限速（MB/s）</translation>
  </message>
  <message>
   <source>0: none.</source>
   <translation>0：不限。</translation>
  </message>
  <message>
   <source>Privacy</source>
   <translation>隐私</translation>
  </message>
  <message>
   <source>Write prompts to the log</source>
   <translation>把提问写入日志</translation>
  </message>
  <message>
   <source>Off unless you look for a fault.</source>
   <translation>除非排查故障，否则请关闭。</translation>
  </message>
  <message>
   <source>New versions</source>
   <translation>新版本</translation>
  </message>
  <message>
   <source>Look for new versions once a day</source>
   <translation>每天检查一次新版本</translation>
  </message>
  <message>
   <source>You are told about one. Nothing is downloaded or installed by itself.</source>
   <translation>仅作提示，不会自动下载或安装任何内容。</translation>
  </message>
  <message>
   <source>Where they are announced</source>
   <translation>发布公告的地址</translation>
  </message>
  <message>
   <source>Empty: as this package was made.</source>
   <translation>留空：使用此安装包内置的地址。</translation>
  </message>
  <message>
   <source>Key of those who announce them</source>
   <translation>公告发布者的密钥</translation>
  </message>
  <message>
   <source>Ed25519 in base64. What it did not sign is not believed.</source>
   <translation>base64 编码的 Ed25519 密钥。未经其签名的公告不予采信。</translation>
  </message>
 </context>
</TS>
