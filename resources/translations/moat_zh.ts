<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh">
 <context>
  <name>Moat</name>
  <message>
   <source>Moat cannot monitor the programs of {count} plugins: {names}.</source>
   <translation>Moat 无法监视 {count} 个插件的程序：{names}。</translation>
  </message>
  <message>
   <source>Prompts, documents and answers are processed on this computer and stay on it.</source>
   <translation>提问、文档和回答都在这台电脑上处理，并留在这台电脑上。</translation>
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
   <translation>路由</translation>
  </message>
  <message>
   <source>Model</source>
   <translation>模型</translation>
  </message>
  <message>
   <source>Tokens</source>
   <translation>词元</translation>
  </message>
  <message>
   <source>Duration</source>
   <translation>用时</translation>
  </message>
  <message>
   <source>Result</source>
   <translation>结果</translation>
  </message>
  <message>
   <source>unnamed</source>
   <translation>未命名</translation>
  </message>
  <message>
   <source>Host</source>
   <translation>主机</translation>
  </message>
  <message>
   <source>Purpose</source>
   <translation>用途</translation>
  </message>
  <message>
   <source>Answer</source>
   <translation>回答</translation>
  </message>
  <message>
   <source>Received</source>
   <translation>接收</translation>
  </message>
  <message>
   <source>No answer</source>
   <translation>没有回答</translation>
  </message>
  <message>
   <source>{host} (this computer)</source>
   <translation>{host}（这台电脑）</translation>
  </message>
  <message>
   <source>Answered</source>
   <translation>已回答</translation>
  </message>
  <message>
   <source>Length limit</source>
   <translation>达到长度上限</translation>
  </message>
  <message>
   <source>Tool call</source>
   <translation>工具调用</translation>
  </message>
  <message>
   <source>Client disconnected</source>
   <translation>客户端已断开</translation>
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
   <source>Engine stopped</source>
   <translation>引擎停止</translation>
  </message>
  <message>
   <source>Queue full</source>
   <translation>队列已满</translation>
  </message>
  <message>
   <source>Prompt too long</source>
   <translation>提示过长</translation>
  </message>
  <message>
   <source>Refused</source>
   <translation>已拒绝</translation>
  </message>
  <message>
   <source>Timed out</source>
   <translation>超时</translation>
  </message>
  <message>
   <source>Chat template error</source>
   <translation>聊天模板出错</translation>
  </message>
  <message>
   <source>Unknown model</source>
   <translation>未知模型</translation>
  </message>
  <message>
   <source>No model installed</source>
   <translation>没有安装模型</translation>
  </message>
  <message>
   <source>Model not loaded</source>
   <translation>模型未加载</translation>
  </message>
  <message>
   <source>Not enough memory</source>
   <translation>内存不足</translation>
  </message>
  <message>
   <source>Model file damaged</source>
   <translation>模型文件已损坏</translation>
  </message>
  <message>
   <source>Not supported</source>
   <translation>不支持</translation>
  </message>
  <message>
   <source>Blocked</source>
   <translation>已阻止</translation>
  </message>
  <message>
   <source>Unknown agent</source>
   <translation>未知智能体</translation>
  </message>
  <message>
   <source>Agent failed</source>
   <translation>智能体失败</translation>
  </message>
  <message>
   <source>Flow failed</source>
   <translation>流程失败</translation>
  </message>
  <message>
   <source>Topic refused</source>
   <translation>话题被拒绝</translation>
  </message>
  <message>
   <source>Failed</source>
   <translation>失败</translation>
  </message>
  <message>
   <source>Requests</source>
   <translation>请求</translation>
  </message>
  <message>
   <source>Outgoing</source>
   <translation>出站连接</translation>
  </message>
  <message>
   <source>Prompts, documents and answers go to {hosts}, which runs the model.</source>
   <translation>提问、文档和回答会发送到运行模型的 {hosts}。</translation>
  </message>
  <message>
   <source>Other computers may connect to Moat; they receive the answers to their own questions.</source>
   <translation>其他电脑可以连接 Moat；它们会收到自己提问的回答。</translation>
  </message>
  <message>
   <source>Offline mode is on: every outgoing connection is blocked.</source>
   <translation>离线模式已开启：所有出站连接均被阻止。</translation>
  </message>
  <message>
   <source>Sections of this page</source>
   <translation>本页的各部分</translation>
  </message>
  <message>
   <source>Finished requests</source>
   <translation>已结束的请求</translation>
  </message>
  <message>
   <source>Outgoing connections</source>
   <translation>出站连接</translation>
  </message>
  <message>
   <source>Moat has connected to {count} hosts.</source>
   <translation>Moat 已连接 {count} 个主机。</translation>
  </message>
  <message>
   <source>No requests yet.</source>
   <translation>还没有请求。</translation>
  </message>
  <message>
   <source>No outgoing connections.</source>
   <translation>没有任何出站连接。</translation>
  </message>
  <message>
   <source>Activity</source>
   <translation>活动</translation>
  </message>
  <message>
   <source>Nothing has left this computer since {time}.</source>
   <translation>自 {time} 起，没有任何数据离开这台电脑。</translation>
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
   <source>None</source>
   <translation>无</translation>
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
   <source>1 more row</source>
   <translation>还有 1 行</translation>
  </message>
  <message>
   <source>{count} more rows</source>
   <translation>还有 {count} 行</translation>
  </message>
  <message>
   <source>{name} could not be read: {why}.</source>
   <translation>无法读取 {name}：{why}。</translation>
  </message>
  <message>
   <source>Documents, text and images</source>
   <translation>文档、文本和图片</translation>
  </message>
  <message>
   <source>All files</source>
   <translation>所有文件</translation>
  </message>
  <message>
   <source>{name} is an image, and the model in use cannot read images.</source>
   <translation>{name} 是图片，而当前使用的模型无法读取图片。</translation>
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
   <source>{name} is not a valid image.</source>
   <translation>{name} 不是有效的图片。</translation>
  </message>
  <message>
   <source>{name} contains no text.</source>
   <translation>{name} 中没有文字。</translation>
  </message>
  <message>
   <source>Pinned</source>
   <translation>已置顶</translation>
  </message>
  <message>
   <source>Today</source>
   <translation>今天</translation>
  </message>
  <message>
   <source>Yesterday</source>
   <translation>昨天</translation>
  </message>
  <message>
   <source>Previous 7 days</source>
   <translation>过去 7 天</translation>
  </message>
  <message>
   <source>Previous 30 days</source>
   <translation>过去 30 天</translation>
  </message>
  <message>
   <source>Older</source>
   <translation>更早</translation>
  </message>
  <message>
   <source>Search chats</source>
   <translation>搜索对话</translation>
  </message>
  <message>
   <source>Saved chats</source>
   <translation>保存的对话</translation>
  </message>
  <message>
   <source>Delete</source>
   <translation>删除</translation>
  </message>
  <message>
   <source>Cancel</source>
   <translation>取消</translation>
  </message>
  <message>
   <source>No chat matches.</source>
   <translation>没有匹配的对话。</translation>
  </message>
  <message>
   <source>Chats are saved here, on this computer.</source>
   <translation>对话保存在这里，就在这台电脑上。</translation>
  </message>
  <message>
   <source>Pin</source>
   <translation>置顶</translation>
  </message>
  <message>
   <source>Rename</source>
   <translation>重命名</translation>
  </message>
  <message>
   <source>This deletes “{title}” for good.</source>
   <translation>这将永久删除“{title}”。</translation>
  </message>
  <message>
   <source>Rename {name}</source>
   <translation>重命名 {name}</translation>
  </message>
  <message>
   <source>Delete {name}</source>
   <translation>删除 {name}</translation>
  </message>
  <message>
   <source>Confirm: delete {name}</source>
   <translation>确认删除 {name}</translation>
  </message>
  <message>
   <source>Cancel: keep {name}</source>
   <translation>取消：保留 {name}</translation>
  </message>
  <message>
   <source>Unpin {name}</source>
   <translation>取消置顶 {name}</translation>
  </message>
  <message>
   <source>Pin {name}</source>
   <translation>置顶 {name}</translation>
  </message>
  <message>
   <source>You</source>
   <translation>您</translation>
  </message>
  <message>
   <source>{name}, page {page}</source>
   <translation>{name}，第 {page} 页</translation>
  </message>
  <message>
   <source>Image</source>
   <translation>图片</translation>
  </message>
  <message>
   <source>Text</source>
   <translation>文本</translation>
  </message>
  <message>
   <source>Folder</source>
   <translation>文件夹</translation>
  </message>
  <message>
   <source>{done} of {all} files read</source>
   <translation>已读取 {done} / {all} 个文件</translation>
  </message>
  <message>
   <source>Reading…</source>
   <translation>正在读取…</translation>
  </message>
  <message>
   <source>Not read to the end</source>
   <translation>未读取完</translation>
  </message>
  <message>
   <source>Cannot be searched</source>
   <translation>无法搜索</translation>
  </message>
  <message>
   <source>Contains no text</source>
   <translation>不含文本</translation>
  </message>
  <message>
   <source>Searched for each question</source>
   <translation>每次提问都会搜索</translation>
  </message>
  <message>
   <source>{count} bytes</source>
   <translation>{count} 字节</translation>
  </message>
  <message>
   <source>Not everything could be read</source>
   <translation>部分内容无法读取</translation>
  </message>
  <message>
   <source>{count} files searched</source>
   <translation>搜索 {count} 个文件</translation>
  </message>
  <message>
   <source>Remove {name}</source>
   <translation>移除 {name}</translation>
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
   <source>A long file is not read whole. Moat finds the passages that fit each question.</source>
   <translation>较长的文件不会整篇读取。Moat 会为每个问题找出相关段落。</translation>
  </message>
  <message>
   <source>Attach files</source>
   <translation>附加文件</translation>
  </message>
  <message>
   <source>Stop the answer</source>
   <translation>停止回答</translation>
  </message>
  <message>
   <source>this code</source>
   <translation>此代码</translation>
  </message>
  <message>
   <source>Automatic</source>
   <translation>自动</translation>
  </message>
  <message>
   <source>Write three tips for better sleep.</source>
   <translation>写出三条改善睡眠的建议。</translation>
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
   <source>Moat is stopped</source>
   <translation>Moat 已停止</translation>
  </message>
  <message>
   <source>The server is not running</source>
   <translation>服务器没有运行</translation>
  </message>
  <message>
   <source>Moat does not respond</source>
   <translation>Moat 没有响应</translation>
  </message>
  <message>
   <source>could not be loaded</source>
   <translation>无法加载</translation>
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
   <translation>系统提示词</translation>
  </message>
  <message>
   <source>Instructions for the model</source>
   <translation>给模型的指令</translation>
  </message>
  <message>
   <source>Temperature</source>
   <translation>温度</translation>
  </message>
  <message>
   <source>Maximum length</source>
   <translation>最大长度</translation>
  </message>
  <message>
   <source>OpenBB's protocol has no system prompt and no sampling options.</source>
   <translation>OpenBB 的协议没有系统提示词和采样选项。</translation>
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
   <source>Start</source>
   <translation>启动</translation>
  </message>
  <message>
   <source>Moat is starting</source>
   <translation>Moat 正在启动</translation>
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
   <source>Choose a model</source>
   <translation>选择模型</translation>
  </message>
  <message>
   <source>Choose the model that answers</source>
   <translation>选择用于回答的模型</translation>
  </message>
  <message>
   <source>New chat</source>
   <translation>新对话</translation>
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
   <source>Start Moat to chat with a model</source>
   <translation>启动 Moat 后即可与模型对话</translation>
  </message>
  <message>
   <source>Write a message; it can be sent in a moment</source>
   <translation>可以先写消息，稍后即可发送</translation>
  </message>
  <message>
   <source>Export this chat</source>
   <translation>导出此对话</translation>
  </message>
  <message>
   <source>More models…</source>
   <translation>更多模型…</translation>
  </message>
  <message>
   <source>Start it to chat with a model.</source>
   <translation>启动它，即可与模型对话。</translation>
  </message>
  <message>
   <source>Restart</source>
   <translation>重新启动</translation>
  </message>
  <message>
   <source>No model is loaded</source>
   <translation>没有加载模型</translation>
  </message>
  <message>
   <source>Your first message loads the default model, or choose one now.</source>
   <translation>您的第一条消息会加载默认模型，也可以现在选择一个。</translation>
  </message>
  <message>
   <source>Choose another model</source>
   <translation>选择另一个模型</translation>
  </message>
  <message>
   <source>Show saved chats</source>
   <translation>显示保存的对话</translation>
  </message>
  <message>
   <source>Show options</source>
   <translation>显示选项</translation>
  </message>
  <message>
   <source>The chat could not be exported: {why}.</source>
   <translation>无法导出对话：{why}。</translation>
  </message>
  <message>
   <source>Search a folder</source>
   <translation>搜索文件夹</translation>
  </message>
  <message>
   <source>Model: {name}</source>
   <translation>模型：{name}</translation>
  </message>
  <message>
   <source>Loading {name}</source>
   <translation>正在加载 {name}</translation>
  </message>
  <message>
   <source>{percent}. You can already type your message.</source>
   <translation>{percent}。您可以先输入消息。</translation>
  </message>
  <message>
   <source>{name} could not be loaded</source>
   <translation>无法加载 {name}</translation>
  </message>
  <message>
   <source>Everything you write is sent to {hosts}.</source>
   <translation>您写的一切都会发送到 {hosts}。</translation>
  </message>
  <message>
   <source>Ask {name}</source>
   <translation>向 {name} 提问</translation>
  </message>
  <message>
   <source>Attach files…</source>
   <translation>添加文件…</translation>
  </message>
  <message>
   <source>Search a folder…</source>
   <translation>搜索文件夹…</translation>
  </message>
  <message>
   <source>Saved system prompts</source>
   <translation>已保存的系统提示词</translation>
  </message>
  <message>
   <source>Not saved</source>
   <translation>未保存</translation>
  </message>
  <message>
   <source>Save</source>
   <translation>保存</translation>
  </message>
  <message>
   <source>Name</source>
   <translation>名称</translation>
  </message>
  <message>
   <source>Name of the system prompt</source>
   <translation>系统提示词的名称</translation>
  </message>
  <message>
   <source>Save this system prompt</source>
   <translation>保存此系统提示词</translation>
  </message>
  <message>
   <source>Delete this saved system prompt</source>
   <translation>删除这条已保存的系统提示词</translation>
  </message>
  <message>
   <source>Save under this name</source>
   <translation>以此名称保存</translation>
  </message>
  <message>
   <source>Only the beginning is shown.</source>
   <translation>只显示了开头部分。</translation>
  </message>
  <message>
   <source>Show all as text</source>
   <translation>以文本显示全部</translation>
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
   <source>Show passages</source>
   <translation>显示段落</translation>
  </message>
  <message>
   <source>Show reasoning</source>
   <translation>显示推理过程</translation>
  </message>
  <message>
   <source>Reasoning</source>
   <translation>推理过程</translation>
  </message>
  <message>
   <source>Waiting for the first token…</source>
   <translation>等待首个词元…</translation>
  </message>
  <message>
   <source>the answer</source>
   <translation>回答</translation>
  </message>
  <message>
   <source>The answer was interrupted</source>
   <translation>回答中断了</translation>
  </message>
  <message>
   <source>Conversation</source>
   <translation>对话</translation>
  </message>
  <message>
   <source>Hide the text</source>
   <translation>隐藏文本</translation>
  </message>
  <message>
   <source>A question to ask</source>
   <translation>一个问题</translation>
  </message>
  <message>
   <source>Previous version</source>
   <translation>上一版本</translation>
  </message>
  <message>
   <source>Next version</source>
   <translation>下一版本</translation>
  </message>
  <message>
   <source>Edit and resend</source>
   <translation>编辑并重新发送</translation>
  </message>
  <message>
   <source>You: {text}</source>
   <translation>您：{text}</translation>
  </message>
  <message>
   <source>Regenerate</source>
   <translation>重新生成</translation>
  </message>
  <message>
   <source>Regenerate with another model</source>
   <translation>用其他模型重新生成</translation>
  </message>
  <message>
   <source>Working…</source>
   <translation>处理中…</translation>
  </message>
  <message>
   <source>Stopped</source>
   <translation>已停止</translation>
  </message>
  <message>
   <source>Show {count} earlier messages</source>
   <translation>显示更早的 {count} 条消息</translation>
  </message>
  <message>
   <source>Version {number} of {count}</source>
   <translation>第 {number} 个版本，共 {count} 个</translation>
  </message>
  <message>
   <source>{time} s to first token</source>
   <translation>首个词元 {time} 秒</translation>
  </message>
  <message>
   <source>length limit reached</source>
   <translation>达到长度上限</translation>
  </message>
  <message>
   <source>The model returned an empty answer.</source>
   <translation>模型返回了空的回答。</translation>
  </message>
  <message>
   <source>{speed} tokens/s</source>
   <translation>{speed} 词元/秒</translation>
  </message>
  <message>
   <source>{used} of {all} tokens of context used</source>
   <translation>已用上下文 {used} / {all} 个词元</translation>
  </message>
  <message>
   <source>Searching your files…</source>
   <translation>正在搜索您的文件…</translation>
  </message>
  <message>
   <source>Nothing in your files matches this question.</source>
   <translation>您的文件中没有与此问题相符的内容。</translation>
  </message>
  <message>
   <source>Open the copilot's menu in OpenBB Workspace, choose to add an agent, and paste:</source>
   <translation>在 OpenBB Workspace 中打开 Copilot 菜单，选择添加智能体（agent），然后粘贴：</translation>
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
   <source>Any program that uses the OpenAI API works with this base URL:</source>
   <translation>任何使用 OpenAI API 的程序都可以用这个基础地址：</translation>
  </message>
  <message>
   <source>Use this runtime URL in your React app; if its origin is not allowed yet, add it:</source>
   <translation>在您的 React 应用中使用这个运行时地址；如果其来源尚未获准，请添加：</translation>
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
   <source>Programs made for Ollama only need a different host:</source>
   <translation>为 Ollama 编写的程序只需换一个主机：</translation>
  </message>
  <message>
   <source>Even with these settings it asks {hosts} by itself.</source>
   <translation>即使使用这些设置，它仍会自行访问 {hosts}。</translation>
  </message>
  <message>
   <source>The older form, for apps with @copilotkit/react-ui:</source>
   <translation>旧的写法，适用于使用 @copilotkit/react-ui 的应用：</translation>
  </message>
  <message>
   <source>Ollama programs</source>
   <translation>Ollama 程序</translation>
  </message>
  <message>
   <source>Whether it asks other hosts by itself was not tried here.</source>
   <translation>它是否会自行访问其他主机，我们没有在此测试过。</translation>
  </message>
  <message>
   <source>With these settings it asked no other host when it was tried.</source>
   <translation>使用这些设置测试时，它没有访问其他主机。</translation>
  </message>
  <message>
   <source>It found the agent “{name}”.</source>
   <translation>找到了智能体“{name}”。</translation>
  </message>
  <message>
   <source>It found: {names}.</source>
   <translation>找到：{names}。</translation>
  </message>
  <message>
   <source>{model} answered ({count} token requested).</source>
   <translation>{model} 已回答（请求了 {count} 个词元）。</translation>
  </message>
  <message>
   <source>The connection works, but no model is installed yet.</source>
   <translation>连接正常，但还没有安装模型。</translation>
  </message>
  <message>
   <source>Program</source>
   <translation>程序</translation>
  </message>
  <message>
   <source>What the program reads</source>
   <translation>程序读取的内容</translation>
  </message>
  <message>
   <source>what the program reads</source>
   <translation>程序读取的内容</translation>
  </message>
  <message>
   <source>Write the file…</source>
   <translation>写入文件…</translation>
  </message>
  <message>
   <source>Into {file}:</source>
   <translation>写入 {file}：</translation>
  </message>
  <message>
   <source>Add this to {file}:</source>
   <translation>将以下内容添加到 {file}：</translation>
  </message>
  <message>
   <source>Write the file</source>
   <translation>写入文件</translation>
  </message>
  <message>
   <source>Editors and agents</source>
   <translation>编辑器和智能体</translation>
  </message>
  <message>
   <source>Written: {path}</source>
   <translation>已写入：{path}</translation>
  </message>
  <message>
   <source>Then: {what}</source>
   <translation>然后：{what}</translation>
  </message>
  <message>
   <source>The file could not be written: {why}.</source>
   <translation>无法写入文件：{why}。</translation>
  </message>
  <message>
   <source>No key is required at the moment: limits apply only to clients that send their key.</source>
   <translation>目前不要求密钥：限制只对发送了密钥的客户端有效。</translation>
  </message>
  <message>
   <source>Safari lets web pages reach this computer only over HTTPS, and other computers must use it. A certificate that is created here is valid for this computer only and renews itself.</source>
   <translation>Safari 只允许网页通过 HTTPS 访问这台电脑，其他电脑也必须使用 HTTPS。在这里生成的证书仅对这台电脑有效，并会自动续期。</translation>
  </message>
  <message>
   <source>Trust it once, in a terminal. In Firefox import the file as an authority:</source>
   <translation>在终端中信任一次即可。在 Firefox 中请将该文件作为证书颁发机构导入：</translation>
  </message>
  <message>
   <source>Revoke</source>
   <translation>撤销</translation>
  </message>
  <message>
   <source>Revoke now</source>
   <translation>立即撤销</translation>
  </message>
  <message>
   <source>{count} tokens today</source>
   <translation>今天 {count} 个词元</translation>
  </message>
  <message>
   <source>reads metrics</source>
   <translation>可读取指标</translation>
  </message>
  <message>
   <source>No named keys yet. Give each person or program its own key; each can be revoked separately.</source>
   <translation>还没有命名密钥。请给每个人或每个程序一把自己的密钥，可以单独撤销。</translation>
  </message>
  <message>
   <source>A person or a program</source>
   <translation>一个人或一个程序</translation>
  </message>
  <message>
   <source>Empty: all. Separate several with commas.</source>
   <translation>留空：全部。多个用逗号分隔。</translation>
  </message>
  <message>
   <source>Create key</source>
   <translation>创建密钥</translation>
  </message>
  <message>
   <source>The new key</source>
   <translation>新密钥</translation>
  </message>
  <message>
   <source>the new key</source>
   <translation>新密钥</translation>
  </message>
  <message>
   <source>Models</source>
   <translation>模型</translation>
  </message>
  <message>
   <source>Concurrent requests</source>
   <translation>同时请求数</translation>
  </message>
  <message>
   <source>Tokens per day</source>
   <translation>每天词元数</translation>
  </message>
  <message>
   <source>Test</source>
   <translation>测试</translation>
  </message>
  <message>
   <source>There is no address while Moat is stopped.</source>
   <translation>Moat 停止时没有地址。</translation>
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
   <source>Turn on HTTPS</source>
   <translation>开启 HTTPS</translation>
  </message>
  <message>
   <source>HTTPS address</source>
   <translation>HTTPS 地址</translation>
  </message>
  <message>
   <source>the HTTPS address</source>
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
   <source>{count} of {limit} tokens today</source>
   <translation>今天 {count} / {limit} 个词元</translation>
  </message>
  <message>
   <source>{count} at a time</source>
   <translation>同时 {count} 个</translation>
  </message>
  <message>
   <source>only {models}</source>
   <translation>仅 {models}</translation>
  </message>
  <message>
   <source>No limit</source>
   <translation>无限制</translation>
  </message>
  <message>
   <source>Create a named key</source>
   <translation>创建命名密钥</translation>
  </message>
  <message>
   <source>Keys</source>
   <translation>密钥</translation>
  </message>
  <message>
   <source>Other machines connect to {address}.</source>
   <translation>其他电脑连接到 {address}。</translation>
  </message>
  <message>
   <source>Connect</source>
   <translation>连接</translation>
  </message>
  <message>
   <source>The key for {name}. Copy it now: it is not shown again.</source>
   <translation>{name} 的密钥。请立即复制：它不会再次显示。</translation>
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
   <translation>要粘贴到 {name} 的内容</translation>
  </message>
  <message>
   <source>what to paste for {name}</source>
   <translation>要粘贴到 {name} 的内容</translation>
  </message>
  <message>
   <source>What to paste for an older {name}</source>
   <translation>要粘贴到旧版 {name} 的内容</translation>
  </message>
  <message>
   <source>what to paste for an older {name}</source>
   <translation>要粘贴到旧版 {name} 的内容</translation>
  </message>
  <message>
   <source>Revoke {name}</source>
   <translation>撤销 {name}</translation>
  </message>
  <message>
   <source>Really revoke {name}</source>
   <translation>确定撤销 {name}</translation>
  </message>
  <message>
   <source>Test {name}</source>
   <translation>测试 {name}</translation>
  </message>
  <message>
   <source>Let pages of {site} use your models?</source>
   <translation>允许 {site} 的网页使用您的模型吗？</translation>
  </message>
  <message>
   <source>When you connect from a web page and nothing appears here, the browser kept the request back.
Chrome, Edge (142 and later): the icon left of the address, then “Local network access”, then Allow; reload the page.
Firefox: allow it when it asks to reach devices on your local network.
Brave: the shield icon, then allow localhost for this site.
Safari: turn on HTTPS on this page first.</source>
   <translation>如果您从网页连接而这里什么都没有出现，说明浏览器拦住了请求。
Chrome、Edge（142 及以上）：点击地址左侧的图标，选择“本地网络访问”，再选允许；然后重新加载页面。
Firefox：当它询问是否访问本地网络设备时请允许。
Brave：点击盾牌图标，为此网站允许 localhost。
Safari：请先在本页开启 HTTPS。</translation>
  </message>
  <message>
   <source>This address has letters that a browser may show in another script (xn--). They can look like those of another address.</source>
   <translation>此地址含有浏览器可能以其他文字显示的字母（xn--）。它们可能看起来像另一个地址。</translation>
  </message>
  <message>
   <source>Not connecting?</source>
   <translation>连接不上？</translation>
  </message>
  <message>
   <source>Blocked: this origin is not allowed.</source>
   <translation>已阻止：此来源未获允许。</translation>
  </message>
  <message>
   <source>The access key was missing or wrong.</source>
   <translation>访问密钥缺失或错误。</translation>
  </message>
  <message>
   <source>The browser asked for permission and got it, but no request followed.</source>
   <translation>浏览器请求许可并获得允许，但之后没有发出请求。</translation>
  </message>
  <message>
   <source>Connected.</source>
   <translation>已连接。</translation>
  </message>
  <message>
   <source>You just allowed it.</source>
   <translation>您刚刚允许了它。</translation>
  </message>
  <message>
   <source>No other page has tried to connect.</source>
   <translation>没有其他网页尝试连接。</translation>
  </message>
  <message>
   <source>No web page has tried to connect yet. Each attempt is shown here, allowed or blocked.</source>
   <translation>还没有网页尝试连接。每次尝试都会显示在这里，无论允许还是阻止。</translation>
  </message>
  <message>
   <source>Pages of {site} may use your models now.</source>
   <translation>{site} 的网页现在可以使用您的模型。</translation>
  </message>
  <message>
   <source>Allow</source>
   <translation>允许</translation>
  </message>
  <message>
   <source>Undo</source>
   <translation>撤销</translation>
  </message>
  <message>
   <source>Remove</source>
   <translation>移除</translation>
  </message>
  <message>
   <source>Copy the key</source>
   <translation>复制密钥</translation>
  </message>
  <message>
   <source>Recent connection attempts</source>
   <translation>最近的连接尝试</translation>
  </message>
  <message>
   <source>Allow {origin}</source>
   <translation>允许 {origin}</translation>
  </message>
  <message>
   <source>No longer allow {origin}</source>
   <translation>不再允许 {origin}</translation>
  </message>
  <message>
   <source>Pages at {origin} may not connect. Allow this origin below.</source>
   <translation>来自 {origin} 的页面不能连接。请在下方允许此来源。</translation>
  </message>
  <message>
   <source>A program</source>
   <translation>某个程序</translation>
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
   <source>Waiting for a program… No request so far.</source>
   <translation>正在等待程序连接……目前还没有请求。</translation>
  </message>
  <message>
   <source>{who} tried to connect and was blocked. Allow it on the Connect page.</source>
   <translation>{who} 尝试连接但被阻止。请在“连接”页面允许它。</translation>
  </message>
  <message>
   <source>{who} tried to connect without the access key. Copy it on the Connect page.</source>
   <translation>{who} 尝试连接但没有访问密钥。请在“连接”页面复制密钥。</translation>
  </message>
  <message>
   <source>{who} found Moat (it asked for {path}). Now ask it a question there.</source>
   <translation>{who} 已找到 Moat（请求了 {path}）。现在请在那里提一个问题。</translation>
  </message>
  <message>
   <source>{who} asked a question. The model is answering…</source>
   <translation>{who} 提出了问题。模型正在回答……</translation>
  </message>
  <message>
   <source>{who} asked a question, but it failed. The Activity page says why.</source>
   <translation>{who} 提出了问题，但失败了。“活动”页面说明了原因。</translation>
  </message>
  <message>
   <source>It works: {who} asked a question and has its answer.</source>
   <translation>成功：{who} 提出了问题并得到了回答。</translation>
  </message>
  <message>
   <source>{path} returned something this client cannot read.</source>
   <translation>{path} 返回了此客户端无法读取的内容。</translation>
  </message>
  <message>
   <source>the server answered with status {status}.</source>
   <translation>服务器返回状态 {status}。</translation>
  </message>
  <message>
   <source>No response from {address}. Is Moat running?</source>
   <translation>{address} 没有回应。Moat 在运行吗？</translation>
  </message>
  <message>
   <source>The answer does not let {origin} read it.</source>
   <translation>该回应不允许 {origin} 读取。</translation>
  </message>
  <message>
   <source>{card} and its driver were found, without support for CUDA.</source>
   <translation>已找到 {card} 及其驱动程序，但缺少 CUDA 支持。</translation>
  </message>
  <message>
   <source>{percent} done. Moat serves on the processor meanwhile.</source>
   <translation>已完成 {percent}。在此期间 Moat 使用处理器。</translation>
  </message>
  <message>
   <source>In measurements, answers came {times} times as fast as with Vulkan ({card}).</source>
   <translation>实测回答速度是 Vulkan 的 {times} 倍（{card}）。</translation>
  </message>
  <message>
   <source>Check the download size</source>
   <translation>查询下载大小</translation>
  </message>
  <message>
   <source>Download</source>
   <translation>下载</translation>
  </message>
  <message>
   <source>Stop compiling</source>
   <translation>停止编译</translation>
  </message>
  <message>
   <source>Faster with CUDA</source>
   <translation>使用 CUDA 更快</translation>
  </message>
  <message>
   <source>Vulkan uses it now. CUDA is usually faster, but that was not measured here.</source>
   <translation>目前通过 Vulkan 使用；CUDA 通常更快，但未在此测量。</translation>
  </message>
  <message>
   <source>Models run on the processor now, and would run on the card.</source>
   <translation>模型目前在处理器上运行，之后可在显卡上运行。</translation>
  </message>
  <message>
   <source>It comes from the address of the releases, and is used only if it is signed.</source>
   <translation>它来自发布地址，只有签名有效才会使用。</translation>
  </message>
  <message>
   <source>Download ({size})</source>
   <translation>下载（{size}）</translation>
  </message>
  <message>
   <source>Support for {kind} is being compiled</source>
   <translation>正在编译 {kind} 支持</translation>
  </message>
  <message>
   <source>Context</source>
   <translation>上下文</translation>
  </message>
  <message>
   <source>How many tokens the model can read and write in one conversation.</source>
   <translation>模型在一次对话中能读写多少词元。</translation>
  </message>
  <message>
   <source>GPU layers</source>
   <translation>GPU 层数</translation>
  </message>
  <message>
   <source>Split across GPUs</source>
   <translation>在多块 GPU 之间分配</translation>
  </message>
  <message>
   <source>Cache precision</source>
   <translation>缓存精度</translation>
  </message>
  <message>
   <source>Concurrent answers</source>
   <translation>同时回答数</translation>
  </message>
  <message>
   <source>CPU threads</source>
   <translation>CPU 线程</translation>
  </message>
  <message>
   <source>Batch size (tokens)</source>
   <translation>批大小（词元）</translation>
  </message>
  <message>
   <source>A larger batch reads long prompts faster on a GPU and uses more memory.</source>
   <translation>批越大，GPU 读取长提示越快，占用的内存也越多。</translation>
  </message>
  <message>
   <source>Flash attention</source>
   <translation>Flash Attention</translation>
  </message>
  <message>
   <source>Weights</source>
   <translation>权重</translation>
  </message>
  <message>
   <source>Compute buffers</source>
   <translation>计算缓冲区</translation>
  </message>
  <message>
   <source>On the graphics card</source>
   <translation>在显卡上</translation>
  </message>
  <message>
   <source>Use these settings</source>
   <translation>使用这些设置</translation>
  </message>
  <message>
   <source>Model to check</source>
   <translation>要检查的模型</translation>
  </message>
  <message>
   <source>Memory use</source>
   <translation>内存占用</translation>
  </message>
  <message>
   <source>Hardware</source>
   <translation>硬件</translation>
  </message>
  <message>
   <source>A quarter of the memory</source>
   <translation>四分之一内存</translation>
  </message>
  <message>
   <source>No model yet. Get one on the Models page.</source>
   <translation>还没有模型。请到“模型”页获取。</translation>
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
   <source>On</source>
   <translation>开</translation>
  </message>
  <message>
   <source>Off</source>
   <translation>关</translation>
  </message>
  <message>
   <source>reads {read} and writes {write} tokens per second</source>
   <translation>每秒读取 {read}、写出 {write} 个词元</translation>
  </message>
  <message>
   <source>Measured on {day} in {seconds} seconds.</source>
   <translation>测量于 {day}，用时 {seconds} 秒。</translation>
  </message>
  <message>
   <source>Flash attention on, batches of {batch}, {threads} threads: </source>
   <translation>Flash attention 开，批大小 {batch}，{threads} 个线程：</translation>
  </message>
  <message>
   <source>Flash attention off, batches of {batch}, {threads} threads: </source>
   <translation>Flash attention 关，批大小 {batch}，{threads} 个线程：</translation>
  </message>
  <message>
   <source>Measure now</source>
   <translation>立即测量</translation>
  </message>
  <message>
   <source>Measuring…</source>
   <translation>正在测量…</translation>
  </message>
  <message>
   <source>Measure again</source>
   <translation>重新测量</translation>
  </message>
  <message>
   <source>Used from the next start, for settings that are automatic.</source>
   <translation>从下次启动起使用（仅限设为自动的项）。</translation>
  </message>
  <message>
   <source>Other programs were busy meanwhile: measure again when they are not.</source>
   <translation>测量时其他程序较忙：请在空闲时重新测量。</translation>
  </message>
  <message>
   <source>Not measured yet. Moat measures it when idle.</source>
   <translation>尚未测量。Moat 会在空闲时测量。</translation>
  </message>
  <message>
   <source>Measured speed</source>
   <translation>实测速度</translation>
  </message>
  <message>
   <source>Loading the model</source>
   <translation>正在加载模型</translation>
  </message>
  <message>
   <source>Stop</source>
   <translation>停止</translation>
  </message>
  <message>
   <source>Starting</source>
   <translation>正在启动</translation>
  </message>
  <message>
   <source>Model in use</source>
   <translation>正在使用的模型</translation>
  </message>
  <message>
   <source>Unload</source>
   <translation>卸载</translation>
  </message>
  <message>
   <source>Models are listed when the server responds.</source>
   <translation>服务器响应后会列出模型。</translation>
  </message>
  <message>
   <source>the address</source>
   <translation>地址</translation>
  </message>
  <message>
   <source>Chat here</source>
   <translation>在此聊天</translation>
  </message>
  <message>
   <source>Connect OpenBB Workspace</source>
   <translation>连接 OpenBB Workspace</translation>
  </message>
  <message>
   <source>Connect an editor</source>
   <translation>连接编辑器</translation>
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
   <source>Stop loading</source>
   <translation>停止加载</translation>
  </message>
  <message>
   <source>Unload the model and free its memory</source>
   <translation>卸载模型并释放内存</translation>
  </message>
  <message>
   <source>Use it</source>
   <translation>使用它</translation>
  </message>
  <message>
   <source>Home</source>
   <translation>首页</translation>
  </message>
  <message>
   <source>{do} the server</source>
   <translation>{do}服务器</translation>
  </message>
  <message>
   <source>Log lines</source>
   <translation>日志行</translation>
  </message>
  <message>
   <source>Pause</source>
   <translation>暂停</translation>
  </message>
  <message>
   <source>the visible or selected lines</source>
   <translation>显示或选中的行</translation>
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
   <source>No line matches the filter.</source>
   <translation>没有符合筛选条件的行。</translation>
  </message>
  <message>
   <source>No lines yet.</source>
   <translation>还没有日志。</translation>
  </message>
  <message>
   <source>Minimum level</source>
   <translation>最低级别</translation>
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
   <source>This system has no usable keyring: it is stored unencrypted in {file}, readable only by you.</source>
   <translation>此系统没有可用的密钥环：它以未加密的方式保存在 {file} 中，只有您可以读取。</translation>
  </message>
  <message>
   <source>It is stored in the system's keyring.</source>
   <translation>它保存在系统的密钥环中。</translation>
  </message>
  <message>
   <source>Download the file again, or choose another one.</source>
   <translation>请重新下载该文件，或选择其他文件。</translation>
  </message>
  <message>
   <source>Close other programs, or choose a smaller model.</source>
   <translation>请关闭其他程序，或选择更小的模型。</translation>
  </message>
  <message>
   <source>Free some space and try again.</source>
   <translation>请释放一些空间后重试。</translation>
  </message>
  <message>
   <source>Moat starts it again by itself. Try again in a moment.</source>
   <translation>Moat 会自动重新启动它。请稍后再试。</translation>
  </message>
  <message>
   <source>Details</source>
   <translation>详情</translation>
  </message>
  <message>
   <source>Technical details</source>
   <translation>技术细节</translation>
  </message>
  <message>
   <source>Copied</source>
   <translation>已复制</translation>
  </message>
  <message>
   <source>Dismiss</source>
   <translation>关闭</translation>
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
   <source>The processor reads {gigabytes} GB of weights and computes {billions} billion products per second (measured on {day}). Speeds of models are estimated from this.</source>
   <translation>处理器每秒读取 {gigabytes} GB 权重、计算 {billions} G 次乘法（测于 {day}）。模型的速度据此估计。</translation>
  </message>
  <message>
   <source>Support for graphics cards added: {names}</source>
   <translation>已添加的显卡支持：{names}</translation>
  </message>
  <message>
   <source>How fast it computes is measured when models are suggested.</source>
   <translation>推荐模型时会测量这台电脑的计算速度。</translation>
  </message>
  <message>
   <source>No usable graphics card found: models run on the processor.</source>
   <translation>没有找到可用的显卡：模型在处理器上运行。</translation>
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
   <source>Unnamed client</source>
   <translation>未命名的客户端</translation>
  </message>
  <message>
   <source>Rescan</source>
   <translation>重新扫描</translation>
  </message>
  <message>
   <source>Scanning this computer…</source>
   <translation>正在扫描这台电脑…</translation>
  </message>
  <message>
   <source>Measure</source>
   <translation>测量</translation>
  </message>
  <message>
   <source>memory</source>
   <translation>内存</translation>
  </message>
  <message>
   <source>free now</source>
   <translation>当前空闲</translation>
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
   <source>memory in use</source>
   <translation>已用内存</translation>
  </message>
  <message>
   <source>Cancel this request</source>
   <translation>取消此请求</translation>
  </message>
  <message>
   <source>Rescan this computer</source>
   <translation>重新扫描这台电脑</translation>
  </message>
  <message>
   <source>Measure the speed of this computer</source>
   <translation>测量这台电脑的速度</translation>
  </message>
  <message>
   <source>Cancel the request of {who}</source>
   <translation>取消 {who} 的请求</translation>
  </message>
  <message>
   <source>This computer</source>
   <translation>这台电脑</translation>
  </message>
  <message>
   <source>Speed when last used: writes {writes} and reads {reads} tokens per second.</source>
   <translation>上次使用时的速度：每秒写 {writes} 个、读 {reads} 个词元。</translation>
  </message>
  <message>
   <source>Estimated speed: writes {writes} and reads {reads} tokens per second.</source>
   <translation>预计速度：每秒写 {writes} 个、读 {reads} 个词元。</translation>
  </message>
  <message>
   <source>less than a minute left</source>
   <translation>剩余不到一分钟</translation>
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
   <source>Remove {name} from this list</source>
   <translation>从列表中移除 {name}</translation>
  </message>
  <message>
   <source>Cancel {name}</source>
   <translation>取消 {name}</translation>
  </message>
  <message>
   <source>{done} of {total}</source>
   <translation>{done} / {total}</translation>
  </message>
  <message>
   <source>Verifying the checksum</source>
   <translation>正在校验</translation>
  </message>
  <message>
   <source>{hours} h {minutes} min left</source>
   <translation>剩余 {hours} 小时 {minutes} 分钟</translation>
  </message>
  <message>
   <source>Load</source>
   <translation>加载</translation>
  </message>
  <message>
   <source>Load {name}</source>
   <translation>加载 {name}</translation>
  </message>
  <message>
   <source>about {size}</source>
   <translation>约 {size}</translation>
  </message>
  <message>
   <source>Waiting</source>
   <translation>等待中</translation>
  </message>
  <message>
   <source>Finished and verified</source>
   <translation>已完成并校验</translation>
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
   <source>In use</source>
   <translation>正在使用</translation>
  </message>
  <message>
   <source>In use: {name}</source>
   <translation>正在使用：{name}</translation>
  </message>
  <message>
   <source>Loading</source>
   <translation>加载中</translation>
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
   <source>{name} runs at {hosts}. Prompts are sent there.</source>
   <translation>{name} 在 {hosts} 上运行。提问会发送到那里。</translation>
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
   <source>This takes a few seconds. If it fails again, the log has the details.</source>
   <translation>这需要几秒钟。如果再次失败，详情见日志。</translation>
  </message>
  <message>
   <source>Restart it; answers in progress are lost. It may also recover by itself.</source>
   <translation>请重新启动；正在生成的回答会丢失。它也可能自行恢复。</translation>
  </message>
  <message>
   <source>The server is off. Start it so that programs on this computer can connect.</source>
   <translation>服务器已关闭。启动它，让这台电脑上的程序可以连接。</translation>
  </message>
  <message>
   <source>Queued</source>
   <translation>排队中</translation>
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
   <source>Choose another model below, or close other programs and try again.</source>
   <translation>请在下方选择另一个模型，或关闭其他程序后重试。</translation>
  </message>
  <message>
   <source>Choose another model below, or try again.</source>
   <translation>请在下方选择其他模型，或再试一次。</translation>
  </message>
  <message>
   <source>No model is loaded. Choose one below; a request loads it too.</source>
   <translation>没有加载模型。请在下方选择；请求也会加载它。</translation>
  </message>
  <message>
   <source>This takes a second or two.</source>
   <translation>需要一两秒钟。</translation>
  </message>
  <message>
   <source>Prompts are sent to {hosts}.</source>
   <translation>提问会发送到 {hosts}。</translation>
  </message>
  <message>
   <source>On this computer, at {hosts}.</source>
   <translation>在这台电脑上，地址为 {hosts}。</translation>
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
   <source>{name} is working.</source>
   <translation>{name} 正在工作。</translation>
  </message>
  <message>
   <source>{name} runs on this computer.</source>
   <translation>{name} 在这台电脑上运行。</translation>
  </message>
  <message>
   <source>Answering {count} requests</source>
   <translation>正在回答 {count} 个请求</translation>
  </message>
  <message>
   <source>calls tools</source>
   <translation>可调用工具</translation>
  </message>
  <message>
   <source>thinks</source>
   <translation>会思考</translation>
  </message>
  <message>
   <source>reads images</source>
   <translation>可读取图片</translation>
  </message>
  <message>
   <source>embeddings</source>
   <translation>嵌入</translation>
  </message>
  <message>
   <source>Its description can be read on its page, or once its terms are accepted.</source>
   <translation>其说明可在其网页上阅读；接受条款后也可在此阅读。</translation>
  </message>
  <message>
   <source>The hub has not scanned all of its files yet.</source>
   <translation>模型库尚未扫描完它的所有文件。</translation>
  </message>
  <message>
   <source>Show files</source>
   <translation>显示文件</translation>
  </message>
  <message>
   <source>1 download</source>
   <translation>1 次下载</translation>
  </message>
  <message>
   <source>{count} downloads</source>
   <translation>{count} 次下载</translation>
  </message>
  <message>
   <source>About this model</source>
   <translation>关于此模型</translation>
  </message>
  <message>
   <source>The model's card</source>
   <translation>模型卡片</translation>
  </message>
  <message>
   <source>not specified</source>
   <translation>未说明</translation>
  </message>
  <message>
   <source>The hub's scanners found nothing in its files.</source>
   <translation>模型库的扫描程序在其文件中未发现问题。</translation>
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
   <source>Look for new models</source>
   <translation>查找新模型</translation>
  </message>
  <message>
   <source>Asks the hub what is popular now and fits this computer.</source>
   <translation>向模型库查询目前受欢迎且适合这台电脑的模型。</translation>
  </message>
  <message>
   <source>For this computer</source>
   <translation>适合这台电脑</translation>
  </message>
  <message>
   <source>Recommended models of each size, checked for this computer.</source>
   <translation>各种大小的推荐模型，已按这台电脑检查。</translation>
  </message>
  <message>
   <source>Recommended</source>
   <translation>推荐</translation>
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
   <source>gated</source>
   <translation>需申请访问</translation>
  </message>
  <message>
   <source>Licence: {name}</source>
   <translation>许可证：{name}</translation>
  </message>
  <message>
   <source>Back to the list</source>
   <translation>返回列表</translation>
  </message>
  <message>
   <source>Cancel looking for new models</source>
   <translation>取消查找新模型</translation>
  </message>
  <message>
   <source>No repository with GGUF files found.</source>
   <translation>没有找到含 GGUF 文件的仓库。</translation>
  </message>
  <message>
   <source>Accept its terms on {address} first.</source>
   <translation>请先在 {address} 接受其条款。</translation>
  </message>
  <message>
   <source>Searching…</source>
   <translation>正在搜索…</translation>
  </message>
  <message>
   <source>Its authors give no description.</source>
   <translation>作者没有提供说明。</translation>
  </message>
  <message>
   <source>The hub's scanners found something in: {files}</source>
   <translation>模型库的扫描程序在以下文件中发现问题：{files}</translation>
  </message>
  <message>
   <source>Results for “{text}”</source>
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
   <source>Models on other servers. Your prompts leave this computer, unless the server runs on it.</source>
   <translation>其他服务器上的模型。您的提问会离开这台电脑，除非服务器就在这台电脑上。</translation>
  </message>
  <message>
   <source>As the server reports</source>
   <translation>按服务器报告</translation>
  </message>
  <message>
   <source>Several addresses of the same model, separated by spaces, share the work.</source>
   <translation>同一模型的多个地址（用空格分隔）会分担工作。</translation>
  </message>
  <message>
   <source>Asking the server for its models…</source>
   <translation>正在向服务器查询模型…</translation>
  </message>
  <message>
   <source>Set on the command line, for this session only.</source>
   <translation>由命令行指定，仅用于本次会话。</translation>
  </message>
  <message>
   <source>No remote engine yet. If vLLM, SGLang, llama-server or another server with the OpenAI API runs on a computer you trust, enter its address below.</source>
   <translation>还没有远程引擎。如果您信任的电脑上运行着 vLLM、SGLang、llama-server 或其他带 OpenAI API 的服务器，请在下方输入其地址。</translation>
  </message>
  <message>
   <source>Addresses</source>
   <translation>地址</translation>
  </message>
  <message>
   <source>The name programs use for it</source>
   <translation>程序使用的名称</translation>
  </message>
  <message>
   <source>Model on the server</source>
   <translation>服务器上的模型</translation>
  </message>
  <message>
   <source>Empty: the first model it lists</source>
   <translation>留空：列表中的第一个模型</translation>
  </message>
  <message>
   <source>Key</source>
   <translation>密钥</translation>
  </message>
  <message>
   <source>If the server needs one</source>
   <translation>如果服务器需要</translation>
  </message>
  <message>
   <source>More options</source>
   <translation>更多选项</translation>
  </message>
  <message>
   <source>Test connection</source>
   <translation>测试连接</translation>
  </message>
  <message>
   <source>Add</source>
   <translation>添加</translation>
  </message>
  <message>
   <source>Its key is deleted too. The server itself is not changed.</source>
   <translation>它的密钥也会被删除。服务器本身不受影响。</translation>
  </message>
  <message>
   <source>Remote</source>
   <translation>远程</translation>
  </message>
  <message>
   <source>Yes</source>
   <translation>是</translation>
  </message>
  <message>
   <source>No</source>
   <translation>否</translation>
  </message>
  <message>
   <source>The server</source>
   <translation>服务器</translation>
  </message>
  <message>
   <source>Moat</source>
   <translation>Moat</translation>
  </message>
  <message>
   <source>Add the engine</source>
   <translation>添加该引擎</translation>
  </message>
  <message>
   <source>It works</source>
   <translation>连接正常</translation>
  </message>
  <message>
   <source>Context (tokens)</source>
   <translation>上下文（词元）</translation>
  </message>
  <message>
   <source>Parameters (billions)</source>
   <translation>参数量（十亿）</translation>
  </message>
  <message>
   <source>Reads images</source>
   <translation>可读取图片</translation>
  </message>
  <message>
   <source>Tool calls are parsed by</source>
   <translation>工具调用由谁解析</translation>
  </message>
  <message>
   <source>Add an engine</source>
   <translation>添加引擎</translation>
  </message>
  <message>
   <source>Not responding: {hosts}. The others take over.</source>
   <translation>没有响应：{hosts}。其余服务器代为工作。</translation>
  </message>
  <message>
   <source>Connecting to {hosts}…</source>
   <translation>正在连接 {hosts}…</translation>
  </message>
  <message>
   <source>Confirm: remove {name}</source>
   <translation>确认移除 {name}</translation>
  </message>
  <message>
   <source>Give it a name.</source>
   <translation>请给它起个名称。</translation>
  </message>
  <message>
   <source>A newer file is in {repo}: {size}, changed on {day} or before.</source>
   <translation>{repo} 中有更新的文件：{size}，更改于 {day} 或更早。</translation>
  </message>
  <message>
   <source>{repo} no longer has this file, or is not public any more.</source>
   <translation>{repo} 已没有此文件，或已不再公开。</translation>
  </message>
  <message>
   <source>No model is installed yet. Discover one, or add a file you already have.</source>
   <translation>还没有安装模型。去发现一个，或添加您已有的文件。</translation>
  </message>
  <message>
   <source>{count} models, {size}, in {path}</source>
   <translation>{count} 个模型，{size}，位于 {path}</translation>
  </message>
  <message>
   <source>Look for a newer file</source>
   <translation>查找更新的文件</translation>
  </message>
  <message>
   <source>Download the newer file</source>
   <translation>下载更新的文件</translation>
  </message>
  <message>
   <source>Comparing it with the hub's file…</source>
   <translation>正在与模型库的文件比较…</translation>
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
   <source>This removes it from the list. The file is not deleted.</source>
   <translation>这只会将它从列表中移除，不会删除文件。</translation>
  </message>
  <message>
   <source>Add a GGUF file</source>
   <translation>添加 GGUF 文件</translation>
  </message>
  <message>
   <source>Discover models</source>
   <translation>发现模型</translation>
  </message>
  <message>
   <source>1 model, {size}, in {path}</source>
   <translation>1 个模型，{size}，位于 {path}</translation>
  </message>
  <message>
   <source>Use these models</source>
   <translation>使用这些模型</translation>
  </message>
  <message>
   <source>Show differences</source>
   <translation>显示差异</translation>
  </message>
  <message>
   <source>Tool calls: {style}</source>
   <translation>工具调用：{style}</translation>
  </message>
  <message>
   <source>This frees {size} on the disk.</source>
   <translation>这会释放 {size} 磁盘空间。</translation>
  </message>
  <message>
   <source>Found in other programs</source>
   <translation>在其他程序中找到</translation>
  </message>
  <message>
   <source>This is the newest file of {repo}.</source>
   <translation>这是 {repo} 的最新文件。</translation>
  </message>
  <message>
   <source>The file is damaged: {why}.</source>
   <translation>文件已损坏：{why}。</translation>
  </message>
  <message>
   <source>not in its template</source>
   <translation>模板中没有</translation>
  </message>
  <message>
   <source>Reads images: {file}</source>
   <translation>可读取图片：{file}</translation>
  </message>
  <message>
   <source>Could not be loaded: {why}</source>
   <translation>无法加载：{why}</translation>
  </message>
  <message>
   <source>On this computer</source>
   <translation>在这台电脑上</translation>
  </message>
  <message>
   <source>Details of {name}</source>
   <translation>{name} 的详情</translation>
  </message>
  <message>
   <source>Use the models of {name}</source>
   <translation>使用 {name} 的模型</translation>
  </message>
  <message>
   <source>For conversations without one of their own.</source>
   <translation>用于自身不带系统提示词的对话。</translation>
  </message>
  <message>
   <source>As the request or the model decides</source>
   <translation>由请求或模型决定</translation>
  </message>
  <message>
   <source>Reset all</source>
   <translation>全部重置</translation>
  </message>
  <message>
   <source>Reset the settings of this model</source>
   <translation>重置此模型的设置</translation>
  </message>
  <message>
   <source>Set for this model alone: {names}.</source>
   <translation>仅为此模型设置：{names}。</translation>
  </message>
  <message>
   <source>Same as for other models. What you enter here takes precedence.</source>
   <translation>全部与其他模型相同。在此输入的内容优先。</translation>
  </message>
  <message>
   <source>Default: {value}</source>
   <translation>默认：{value}</translation>
  </message>
  <message>
   <source>All models: {value}</source>
   <translation>所有模型：{value}</translation>
  </message>
  <message>
   <source>Settings of this model</source>
   <translation>此模型的设置</translation>
  </message>
  <message>
   <source>Accept the terms on the model's page, then paste a token with read access.</source>
   <translation>请先在模型页面接受条款，然后粘贴具有读取权限的令牌。</translation>
  </message>
  <message>
   <source>You are signed in to Hugging Face on this computer ({place}).</source>
   <translation>您在这台电脑上已登录 Hugging Face（{place}）。</translation>
  </message>
  <message>
   <source>Downloads</source>
   <translation>下载</translation>
  </message>
  <message>
   <source>Nothing is being downloaded.</source>
   <translation>没有正在进行的下载。</translation>
  </message>
  <message>
   <source>Hugging Face token</source>
   <translation>Hugging Face 令牌</translation>
  </message>
  <message>
   <source>{name} was deleted; {size} freed.</source>
   <translation>{name} 已删除；释放了 {size}。</translation>
  </message>
  <message>
   <source>{name} was removed from the list; its file was not deleted.</source>
   <translation>{name} 已从列表移除；文件没有删除。</translation>
  </message>
  <message>
   <source>Asking the hub…</source>
   <translation>正在查询模型库…</translation>
  </message>
  <message>
   <source>Models (*.gguf)</source>
   <translation>模型 (*.gguf)</translation>
  </message>
  <message>
   <source>Use the token of this computer</source>
   <translation>使用这台电脑的令牌</translation>
  </message>
  <message>
   <source>Save the token</source>
   <translation>保存令牌</translation>
  </message>
  <message>
   <source>Remove the token</source>
   <translation>移除令牌</translation>
  </message>
  <message>
   <source>Gated models</source>
   <translation>受限模型</translation>
  </message>
  <message>
   <source>The token is saved with your secrets.</source>
   <translation>令牌已与您的凭据一起保存。</translation>
  </message>
  <message>
   <source>The token was removed.</source>
   <translation>令牌已移除。</translation>
  </message>
  <message>
   <source>Discover</source>
   <translation>发现</translation>
  </message>
  <message>
   <source>Reading the files of {repo}…</source>
   <translation>正在读取 {repo} 的文件…</translation>
  </message>
  <message>
   <source>It does not connect to anything outside Moat.</source>
   <translation>它不连接 Moat 之外的任何东西。</translation>
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
   <source>Reload</source>
   <translation>重新加载</translation>
  </message>
  <message>
   <source>It may also change and delete (PUT, PATCH, DELETE)</source>
   <translation>也允许修改和删除（PUT、PATCH、DELETE）</translation>
  </message>
  <message>
   <source>Choose a file</source>
   <translation>选择文件</translation>
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
   <source>Flow to test</source>
   <translation>要测试的流程</translation>
  </message>
  <message>
   <source>List its tools</source>
   <translation>列出其工具</translation>
  </message>
  <message>
   <source>A question to test it with</source>
   <translation>用来测试的问题</translation>
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
   <source>Stored unencrypted</source>
   <translation>以未加密方式保存</translation>
  </message>
  <message>
   <source>Stored in the keychain</source>
   <translation>保存在系统密钥环中</translation>
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
   <source>Test it</source>
   <translation>测试</translation>
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
   <source>Its code runs in a sandbox.</source>
   <translation>它的代码在沙箱中运行。</translation>
  </message>
  <message>
   <source>It runs programs with your user rights, and Moat cannot monitor them: only enable plugins you trust.</source>
   <translation>它以您的用户权限运行程序，Moat 无法监视：请只启用您信任的插件。</translation>
  </message>
  <message>
   <source>The address of its API is not set yet.</source>
   <translation>尚未设置其 API 的地址。</translation>
  </message>
  <message>
   <source>needs your review</source>
   <translation>需要您审查</translation>
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
   <source>Ask when risky</source>
   <translation>有风险时询问</translation>
  </message>
  <message>
   <source>Always allow</source>
   <translation>始终允许</translation>
  </message>
  <message>
   <source>Never</source>
   <translation>从不</translation>
  </message>
  <message>
   <source>The log is empty.</source>
   <translation>日志为空。</translation>
  </message>
  <message>
   <source>One per line</source>
   <translation>每行一个</translation>
  </message>
  <message>
   <source>List its tools: starts its programs</source>
   <translation>列出其工具：会启动其程序</translation>
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
   <source>It has no tools.</source>
   <translation>它没有工具。</translation>
  </message>
  <message>
   <source>Done.</source>
   <translation>完成。</translation>
  </message>
  <message>
   <source>Not set yet</source>
   <translation>尚未设置</translation>
  </message>
  <message>
   <source>Disable</source>
   <translation>停用</translation>
  </message>
  <message>
   <source>Log of {name}</source>
   <translation>{name} 的日志</translation>
  </message>
  <message>
   <source>Dry run: shows the request, sends nothing</source>
   <translation>试运行：显示请求，不发送任何内容</translation>
  </message>
  <message>
   <source>Mock: continues with made-up answers</source>
   <translation>模拟：用虚构的回答继续</translation>
  </message>
  <message>
   <source>Run it for real</source>
   <translation>真正运行</translation>
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
   <source>Since your review: {changes}.</source>
   <translation>自您审查以来：{changes}。</translation>
  </message>
  <message>
   <source>It needs: {secrets}.</source>
   <translation>它需要：{secrets}。</translation>
  </message>
  <message>
   <source>Its servers offer to read: {names}</source>
   <translation>其服务器提供可读资源：{names}</translation>
  </message>
  <message>
   <source>Its servers offer these prompts: {names}</source>
   <translation>其服务器提供这些提示词：{names}</translation>
  </message>
  <message>
   <source>Show the log of {name}</source>
   <translation>显示 {name} 的日志</translation>
  </message>
  <message>
   <source>Back to version {old}</source>
   <translation>回到版本 {old}</translation>
  </message>
  <message>
   <source>{name} (tool)</source>
   <translation>{name}（工具）</translation>
  </message>
  <message>
   <source>Import MCP servers</source>
   <translation>导入 MCP 服务器</translation>
  </message>
  <message>
   <source>Adding one starts nothing. Look at it in the list above, then enable it.</source>
   <translation>添加时不会启动任何程序。请先在上方列表中查看，然后启用。</translation>
  </message>
  <message>
   <source>Hosts it may reach, such as en.wikipedia.org</source>
   <translation>允许访问的主机，例如 zh.wikipedia.org</translation>
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
   <source>From the file of another program: mcp.json or claude_desktop_config.json</source>
   <translation>来自其他程序的文件：mcp.json 或 claude_desktop_config.json</translation>
  </message>
  <message>
   <source>No plugins yet. A plugin is a folder with a manifest (plugin.json).</source>
   <translation>还没有插件。插件是带有清单（plugin.json）的文件夹。</translation>
  </message>
  <message>
   <source>Resume plugins</source>
   <translation>恢复插件</translation>
  </message>
  <message>
   <source>Plugins are paused: none of them is used.</source>
   <translation>插件已暂停：都不会被使用。</translation>
  </message>
  <message>
   <source>Add {name}</source>
   <translation>添加 {name}</translation>
  </message>
  <message>
   <source>Added</source>
   <translation>已添加</translation>
  </message>
  <message>
   <source>Reaches: {places}</source>
   <translation>可访问：{places}</translation>
  </message>
  <message>
   <source>Common MCP servers</source>
   <translation>常用 MCP 服务器</translation>
  </message>
  <message>
   <source>Plugins</source>
   <translation>插件</translation>
  </message>
  <message>
   <source>Hosts that {name} may reach</source>
   <translation>{name} 可访问的主机</translation>
  </message>
  <message>
   <source>{client} wants to use this plugin for the first time.</source>
   <translation>{client} 想首次使用此插件。</translation>
  </message>
  <message>
   <source>Denied automatically in {time}</source>
   <translation>{time} 后自动拒绝</translation>
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
   <source>Choose</source>
   <translation>请选择</translation>
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
   <source>Allow once</source>
   <translation>允许一次</translation>
  </message>
  <message>
   <source>Deny</source>
   <translation>拒绝</translation>
  </message>
  <message>
   <source>Request to be sent</source>
   <translation>将要发送的请求</translation>
  </message>
  <message>
   <source>It only reads data.</source>
   <translation>它只读取数据。</translation>
  </message>
  <message>
   <source>It makes changes. Review the request before you allow it.</source>
   <translation>它会作出更改。允许之前请先查看请求。</translation>
  </message>
  <message>
   <source>It may cause damage that cannot be undone.</source>
   <translation>它可能造成无法撤销的损害。</translation>
  </message>
  <message>
   <source>a number without thousands separators, such as 10000</source>
   <translation>不带千位分隔符的数字，例如 10000</translation>
  </message>
  <message>
   <source>{plugin} needs more information</source>
   <translation>{plugin} 需要更多信息</translation>
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
   <source>{name} must be {what}.</source>
   <translation>{name} 必须是{what}。</translation>
  </message>
  <message>
   <source>{text} is not possible here. Enter a number from {least} to {most}.</source>
   <translation>{text} 在此无效。请输入 {least} 到 {most} 之间的数字。</translation>
  </message>
  <message>
   <source>Check for updates</source>
   <translation>检查更新</translation>
  </message>
  <message>
   <source>Licences</source>
   <translation>许可证</translation>
  </message>
  <message>
   <source>Moat is up to date.</source>
   <translation>Moat 已是最新版本。</translation>
  </message>
  <message>
   <source>To check for updates, turn on the daily check under Updates first.</source>
   <translation>若要检查更新，请先在“更新”中开启每日检查。</translation>
  </message>
  <message>
   <source>Text of the licence</source>
   <translation>许可证全文</translation>
  </message>
  <message>
   <source>An empty field</source>
   <translation>空值</translation>
  </message>
  <message>
   <source>No setting found.</source>
   <translation>没有找到设置。</translation>
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
   <source>About Moat</source>
   <translation>关于 Moat</translation>
  </message>
  <message>
   <source>Other computers can connect without encryption: the key and all texts can be read on the network. Use this only on a network you trust.</source>
   <translation>其他电脑可以不加密地连接：密钥和所有文字在网络上都可被读取。请只在您信任的网络中使用。</translation>
  </message>
  <message>
   <source>The settings could not be exported: {why}.</source>
   <translation>无法导出设置：{why}。</translation>
  </message>
  <message>
   <source>Version {version}</source>
   <translation>版本 {version}</translation>
  </message>
  <message>
   <source>Version {version} is available: {page}</source>
   <translation>新版本 {version} 已发布：{page}</translation>
  </message>
  <message>
   <source>This file contains no Moat settings.</source>
   <translation>此文件不包含 Moat 的设置。</translation>
  </message>
  <message>
   <source>Settings</source>
   <translation>设置</translation>
  </message>
  <message>
   <source>Reset “{name}”</source>
   <translation>重置“{name}”</translation>
  </message>
  <message>
   <source>The language changes the next time Moat starts.</source>
   <translation>重新启动 Moat 后语言才会改变。</translation>
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
   <source>Something went wrong</source>
   <translation>出错了</translation>
  </message>
  <message>
   <source>Go to a page, chat, model or setting</source>
   <translation>前往页面、对话、模型或设置</translation>
  </message>
  <message>
   <source>The pages, in the order of the sidebar</source>
   <translation>按侧边栏顺序切换页面</translation>
  </message>
  <message>
   <source>Send the message</source>
   <translation>发送消息</translation>
  </message>
  <message>
   <source>New line in the message</source>
   <translation>消息中换行</translation>
  </message>
  <message>
   <source>Stop the answer, close a message or a panel</source>
   <translation>停止回答，关闭提示或面板</translation>
  </message>
  <message>
   <source>Next or previous control</source>
   <translation>下一个或上一个控件</translation>
  </message>
  <message>
   <source>Press the button</source>
   <translation>按下按钮</translation>
  </message>
  <message>
   <source>This list</source>
   <translation>本列表</translation>
  </message>
  <message>
   <source>Keyboard shortcuts</source>
   <translation>键盘快捷键</translation>
  </message>
  <message>
   <source>Go to</source>
   <translation>前往</translation>
  </message>
  <message>
   <source>Places found</source>
   <translation>找到的位置</translation>
  </message>
  <message>
   <source>Nothing found.</source>
   <translation>没有找到。</translation>
  </message>
  <message>
   <source>Page</source>
   <translation>页面</translation>
  </message>
  <message>
   <source>Use this model</source>
   <translation>使用此模型</translation>
  </message>
  <message>
   <source>Chat</source>
   <translation>对话</translation>
  </message>
  <message>
   <source>Run language models on this computer and use them in your programs.</source>
   <translation>在这台电脑上运行语言模型，并在您的程序中使用。</translation>
  </message>
  <message>
   <source>Give this address to OpenBB Workspace, an editor or another program, and ask it a question. Or begin with a chat here.</source>
   <translation>将此地址填入 OpenBB Workspace、编辑器或其他程序，并在那里提问。也可以先在此聊天。</translation>
  </message>
  <message>
   <source>Start right away with the small starter model</source>
   <translation>立即用小型入门模型开始</translation>
  </message>
  <message>
   <source>Use a model that is already on this computer</source>
   <translation>使用这台电脑上已有的模型</translation>
  </message>
  <message>
   <source>Start Moat when I log in</source>
   <translation>登录时启动 Moat</translation>
  </message>
  <message>
   <source>Use an existing folder…</source>
   <translation>使用现有文件夹…</translation>
  </message>
  <message>
   <source>Get started</source>
   <translation>开始使用</translation>
  </message>
  <message>
   <source>Download {name} ({size}), recommended for this computer</source>
   <translation>下载 {name}（{size}），推荐用于这台电脑</translation>
  </message>
  <message>
   <source>Done</source>
   <translation>完成</translation>
  </message>
  <message>
   <source>Model on this computer</source>
   <translation>这台电脑上的模型</translation>
  </message>
  <message>
   <source>Connect a program</source>
   <translation>连接程序</translation>
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
   <source>Which model do you want to use?</source>
   <translation>您想使用哪个模型？</translation>
  </message>
  <message>
   <source>Welcome to Moat</source>
   <translation>欢迎使用 Moat</translation>
  </message>
  <message>
   <source>Model folder</source>
   <translation>模型文件夹</translation>
  </message>
  <message>
   <source>This desktop shows no tray icons. Closing this window quits Moat.</source>
   <translation>此桌面不显示托盘图标。关闭此窗口即退出 Moat。</translation>
  </message>
  <message>
   <source>Moat keeps running in the tray. To quit, use the menu of its icon.</source>
   <translation>Moat 在托盘中继续运行。要退出，请使用图标菜单。</translation>
  </message>
  <message>
   <source>Enter this address in OpenBB, an OpenAI client or CopilotKit.</source>
   <translation>在 OpenBB、OpenAI 客户端或 CopilotKit 中输入这个地址。</translation>
  </message>
  <message>
   <source>No model is installed yet. Put a GGUF file into the model folder.</source>
   <translation>还没有安装模型。请把 GGUF 文件放入模型文件夹。</translation>
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
   <source>If it is taken, the next free port is used.</source>
   <translation>若被占用，则使用下一个空闲端口。</translation>
  </message>
  <message>
   <source>Who may connect</source>
   <translation>谁可以连接</translation>
  </message>
  <message>
   <source>Other computers connect by HTTPS and always need an access key.</source>
   <translation>其他电脑通过 HTTPS 连接，并始终需要访问密钥。</translation>
  </message>
  <message>
   <source>This computer only</source>
   <translation>仅这台电脑</translation>
  </message>
  <message>
   <source>Any computer on the network</source>
   <translation>网络中的任何电脑</translation>
  </message>
  <message>
   <source>Require an access key</source>
   <translation>要求访问密钥</translation>
  </message>
  <message>
   <source>Clients must send it as a bearer token. Always required when any computer on the network may connect.</source>
   <translation>客户端须以 Bearer 令牌发送。允许网络中的任何电脑连接时始终需要。</translation>
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
   <source>Names besides localhost that clients may use, with or without the port.</source>
   <translation>除 localhost 外客户端可用的名称，可带或不带端口。</translation>
  </message>
  <message>
   <source>Reverse proxies</source>
   <translation>反向代理</translation>
  </message>
  <message>
   <source>Addresses or networks, for example 127.0.0.1 or 10.0.0.0/8. Moat trusts what they report about the client (X-Forwarded-For, X-Forwarded-Proto). Requires the key.</source>
   <translation>地址或网段，例如 127.0.0.1 或 10.0.0.0/8。信任它们对客户端的说明（X-Forwarded-For、X-Forwarded-Proto）。会要求密钥。</translation>
  </message>
  <message>
   <source>Allow connections without encryption</source>
   <translation>允许未加密的连接</translation>
  </message>
  <message>
   <source>Off: other computers must use HTTPS. On: the key and all texts travel unencrypted, and anyone who can listen on that network can read and use them.</source>
   <translation>关：其他电脑必须使用 HTTPS。开：密钥和所有文字以未加密方式传输，能监听该网络的人可以读取和使用它们。</translation>
  </message>
  <message>
   <source>HTTPS</source>
   <translation>HTTPS</translation>
  </message>
  <message>
   <source>For Safari; always on when other computers may connect. The Connect page shows the certificate to trust.</source>
   <translation>用于 Safari；允许其他电脑连接时始终开启。“连接”页面会显示需要信任的证书。</translation>
  </message>
  <message>
   <source>Certificate (PEM file)</source>
   <translation>证书（PEM 文件）</translation>
  </message>
  <message>
   <source>With its chain. Empty: one that Moat makes itself.</source>
   <translation>含证书链。留空：由 Moat 自己生成。</translation>
  </message>
  <message>
   <source>Key of the certificate (PEM file)</source>
   <translation>证书私钥（PEM 文件）</translation>
  </message>
  <message>
   <source>HTTPS port</source>
   <translation>HTTPS 端口</translation>
  </message>
  <message>
   <source>Maximum request size (MB)</source>
   <translation>请求大小上限（MB）</translation>
  </message>
  <message>
   <source>Maximum concurrent requests</source>
   <translation>最大并发请求数</translation>
  </message>
  <message>
   <source>Start the server with Moat</source>
   <translation>随 Moat 启动服务器</translation>
  </message>
  <message>
   <source>Log format</source>
   <translation>日志格式</translation>
  </message>
  <message>
   <source>'json' writes an object in each line, for those who collect logs.</source>
   <translation>'json' 每行写一个对象，便于收集日志。</translation>
  </message>
  <message>
   <source>JSON</source>
   <translation>JSON</translation>
  </message>
  <message>
   <source>The default model. Empty: the starter model.</source>
   <translation>默认模型。留空：入门模型。</translation>
  </message>
  <message>
   <source>Load the model when Moat starts</source>
   <translation>Moat 启动时加载模型</translation>
  </message>
  <message>
   <source>0: as large as the model allows.</source>
   <translation>0：模型允许的大小。</translation>
  </message>
  <message>
   <source>0: all cores.</source>
   <translation>0：所有核心。</translation>
  </message>
  <message>
   <source>-1: as many as fit.</source>
   <translation>-1：能放多少放多少。</translation>
  </message>
  <message>
   <source>Full (F16)</source>
   <translation>完整（F16）</translation>
  </message>
  <message>
   <source>Half the memory (Q8_0)</source>
   <translation>一半内存（Q8_0）</translation>
  </message>
  <message>
   <source>A quarter of the memory (Q4_0)</source>
   <translation>四分之一内存（Q4_0）</translation>
  </message>
  <message>
   <source>For example 3 and 1: three quarters on the first. Empty: by free memory.</source>
   <translation>例如 3 和 1：四分之三放在第一块上。留空：按空闲内存分配。</translation>
  </message>
  <message>
   <source>The only GPU to use</source>
   <translation>唯一使用的显卡</translation>
  </message>
  <message>
   <source>0: the first. -1: all of them.</source>
   <translation>0：第一块。-1：全部。</translation>
  </message>
  <message>
   <source>Layers whose experts stay on the processor</source>
   <translation>专家留在处理器上的层数</translation>
  </message>
  <message>
   <source>For mixture-of-experts models on small GPUs. -1: as many as needed, 999: all.</source>
   <translation>用于小显存显卡上的混合专家模型。-1：按需，999：全部。</translation>
  </message>
  <message>
   <source>Cache on the GPU</source>
   <translation>缓存放在显卡上</translation>
  </message>
  <message>
   <source>Off: more layers fit, and it is slower.</source>
   <translation>关闭：可放入更多层，但更慢。</translation>
  </message>
  <message>
   <source>Auto</source>
   <translation>自动</translation>
  </message>
  <message>
   <source>Try out and measure new models</source>
   <translation>试用并测量新模型</translation>
  </message>
  <message>
   <source>When idle: a short test of whether the model can plan, then a few seconds to choose flash attention, batch size and threads where these are automatic. Used from the next start.</source>
   <translation>空闲时先简短测试模型能否规划，再用几秒钟选定自动设置的 flash attention、批大小和线程数，从下次启动起使用。</translation>
  </message>
  <message>
   <source>Choose tokens on the GPU</source>
   <translation>在显卡上选取词元</translation>
  </message>
  <message>
   <source>Auto: where several answers are made at once.</source>
   <translation>自动：同时生成多个回答时使用。</translation>
  </message>
  <message>
   <source>Prompt cache in memory (MB)</source>
   <translation>内存中的提示缓存（MB）</translation>
  </message>
  <message>
   <source>Prompt cache on disk (MB)</source>
   <translation>磁盘上的提示缓存（MB）</translation>
  </message>
  <message>
   <source>Long conversations need not be read again after a restart. 0: off.</source>
   <translation>重启后无需重新读取长对话。0：关闭。</translation>
  </message>
  <message>
   <source>Prompt-lookup speculative decoding</source>
   <translation>提示词查找式推测解码</translation>
  </message>
  <message>
   <source>Speeds up answers that quote the prompt or contain tables.</source>
   <translation>加快引用提问或包含表格的回答。</translation>
  </message>
  <message>
   <source>Draft model</source>
   <translation>草稿模型</translation>
  </message>
  <message>
   <source>A small GGUF file of the same model family for speculative decoding. Empty: none.</source>
   <translation>用于推测解码的同系列小型 GGUF 文件。留空：不使用。</translation>
  </message>
  <message>
   <source>LoRA adapters (GGUF files)</source>
   <translation>LoRA 适配器（GGUF 文件）</translation>
  </message>
  <message>
   <source>Tool description format</source>
   <translation>工具描述格式</translation>
  </message>
  <message>
   <source>For models without a tool format of their own. TypeScript is shorter.</source>
   <translation>用于自身没有工具格式的模型。TypeScript 更短。</translation>
  </message>
  <message>
   <source>TypeScript</source>
   <translation>TypeScript</translation>
  </message>
  <message>
   <source>Maximum queued requests</source>
   <translation>最大排队请求数</translation>
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
   <source>Additional model folders</source>
   <translation>更多模型文件夹</translation>
  </message>
  <message>
   <source>Keep downloads in Hugging Face's cache</source>
   <translation>将下载保存在 Hugging Face 的缓存中</translation>
  </message>
  <message>
   <source>llama.cpp, vLLM and transformers find them there and use the same bytes.</source>
   <translation>llama.cpp、vLLM 和 transformers 可在那里找到并共用同一份数据。</translation>
  </message>
  <message>
   <source>Models used in place</source>
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
   <source>Settings of single models</source>
   <translation>单个模型的设置</translation>
  </message>
  <message>
   <source>The details of a model on the Models page change them.</source>
   <translation>可在“模型”页面的模型详情中更改。</translation>
  </message>
  <message>
   <source>Remote engines</source>
   <translation>远程引擎</translation>
  </message>
  <message>
   <source>name=http://host:port/v1 for each. The Models page adds and tests them.</source>
   <translation>每个写作 name=http://host:port/v1。可在“模型”页面添加和测试。</translation>
  </message>
  <message>
   <source>Copilots</source>
   <translation>Copilot</translation>
  </message>
  <message>
   <source>Maximum answer length for pages (tokens)</source>
   <translation>对网页的最大回答长度（词元）</translation>
  </message>
  <message>
   <source>Remote agents</source>
   <translation>远程智能体</translation>
  </message>
  <message>
   <source>'copilotkit URL' for a CopilotKit endpoint, 'langgraph URL' for a server.</source>
   <translation>CopilotKit 端点写“copilotkit URL”，服务器写“langgraph URL”。</translation>
  </message>
  <message>
   <source>Save conversations with pages</source>
   <translation>保存与网页的对话</translation>
  </message>
  <message>
   <source>Off: conversations are deleted when Moat quits, those saved before too.</source>
   <translation>关：退出 Moat 时删除对话，包括之前保存的。</translation>
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
   <source>No plugin is used while paused. Which ones are enabled does not change.</source>
   <translation>暂停时不使用任何插件。启用状态保持不变。</translation>
  </message>
  <message>
   <source>When a plugin answers</source>
   <translation>插件何时回答</translation>
  </message>
  <message>
   <source>Only when named: the question begins with @plugin.</source>
   <translation>仅在点名时：问题以 @plugin 开头。</translation>
  </message>
  <message>
   <source>Only when named</source>
   <translation>仅在点名时</translation>
  </message>
  <message>
   <source>Window</source>
   <translation>窗口</translation>
  </message>
  <message>
   <source>Theme</source>
   <translation>主题</translation>
  </message>
  <message>
   <source>Same as the system</source>
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
   <source>English</source>
   <translation>English</translation>
  </message>
  <message>
   <source>简体中文</source>
   <translation>简体中文</translation>
  </message>
  <message>
   <source>Deutsch</source>
   <translation>Deutsch</translation>
  </message>
  <message>
   <source>Keep running in the tray when the window is closed</source>
   <translation>关闭窗口后在托盘中继续运行</translation>
  </message>
  <message>
   <source>Network</source>
   <translation>网络</translation>
  </message>
  <message>
   <source>Offline</source>
   <translation>离线</translation>
  </message>
  <message>
   <source>Block every outgoing connection.</source>
   <translation>阻止所有出站连接。</translation>
  </message>
  <message>
   <source>Proxy</source>
   <translation>代理服务器</translation>
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
   <source>Domains of your own network</source>
   <translation>您自己网络的域名</translation>
  </message>
  <message>
   <source>Names in these domains may resolve to private addresses; all others are blocked.</source>
   <translation>这些域中的名称可以解析为私有地址；其他名称会被阻止。</translation>
  </message>
  <message>
   <source>Hosts files may be downloaded from</source>
   <translation>可以下载文件的主机</translation>
  </message>
  <message>
   <source>For files that a dashboard sends as links, for example https://files.example.com. Links to other hosts are not opened.</source>
   <translation>用于仪表板以链接形式发送的文件，例如 https://files.example.com。指向其他主机的链接不会被打开。</translation>
  </message>
  <message>
   <source>Model hub</source>
   <translation>模型库</translation>
  </message>
  <message>
   <source>A mirror of Hugging Face. Empty: HF_ENDPOINT, else huggingface.co.</source>
   <translation>Hugging Face 的镜像。留空：HF_ENDPOINT，否则 huggingface.co。</translation>
  </message>
  <message>
   <source>Storage hosts of the hub</source>
   <translation>模型库的存储主机</translation>
  </message>
  <message>
   <source>Other domains a mirror may redirect downloads to.</source>
   <translation>镜像可以将下载重定向到的其他域名。</translation>
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
   <source>Turn on only to find a problem.</source>
   <translation>仅在排查问题时开启。</translation>
  </message>
  <message>
   <source>Updates</source>
   <translation>更新</translation>
  </message>
  <message>
   <source>Check for updates once a day</source>
   <translation>每天检查一次更新</translation>
  </message>
  <message>
   <source>Moat only notifies you. Nothing is downloaded or installed automatically.</source>
   <translation>仅作提示，不会自动下载或安装任何内容。</translation>
  </message>
  <message>
   <source>Update feed</source>
   <translation>更新源</translation>
  </message>
  <message>
   <source>Empty: the address built into this package.</source>
   <translation>留空：使用此安装包内置的地址。</translation>
  </message>
  <message>
   <source>Update signing key</source>
   <translation>更新签名密钥</translation>
  </message>
  <message>
   <source>Ed25519 public key in base64. Updates without its signature are ignored.</source>
   <translation>base64 编码的 Ed25519 公钥。没有其签名的更新会被忽略。</translation>
  </message>
  <message>
   <source>Address of release files</source>
   <translation>发布文件的地址</translation>
  </message>
  <message>
   <source>Support for graphics cards is fetched from here, when you ask for it. Empty: the folder of the update feed.</source>
   <translation>按您的要求从这里获取显卡支持。留空：更新源所在的文件夹。</translation>
  </message>
  <message>
   <source>0: always the likeliest token.</source>
   <translation>0：总是选择最可能的词元。</translation>
  </message>
  <message>
   <source>Top-p</source>
   <translation>Top-p</translation>
  </message>
  <message>
   <source>Top-k</source>
   <translation>Top-k</translation>
  </message>
  <message>
   <source>Min-p</source>
   <translation>Min-p</translation>
  </message>
  <message>
   <source>Repeat penalty</source>
   <translation>重复惩罚</translation>
  </message>
  <message>
   <source>Thinking</source>
   <translation>思考</translation>
  </message>
  <message>
   <source>For models whose template can switch it.</source>
   <translation>用于模板支持开关思考的模型。</translation>
  </message>
 </context>
 <context>
  <name>server</name>
  <message>
   <source>Starting at login could not be changed: {0}.</source>
   <translation>无法更改登录时启动：{0}。</translation>
  </message>
  <message>
   <source>The chat could not be saved: {0}.</source>
   <translation>无法保存对话：{0}。</translation>
  </message>
  <message>
   <source>The server sent something this window does not understand.</source>
   <translation>服务器发送了此窗口无法理解的内容。</translation>
  </message>
  <message>
   <source>Something went wrong inside Moat.</source>
   <translation>Moat 内部出错。</translation>
  </message>
  <message>
   <source>The server answered with status {0}.</source>
   <translation>服务器返回状态 {0}。</translation>
  </message>
  <message>
   <source>The answer was interrupted.</source>
   <translation>回答中断了。</translation>
  </message>
  <message>
   <source>OpenBB's protocol does not support images. Choose another protocol in the options.</source>
   <translation>OpenBB 的协议不支持图片。请在选项中选择其他协议。</translation>
  </message>
  <message>
   <source>The server stopped: {0}</source>
   <translation>服务器已停止：{0}</translation>
  </message>
  <message>
   <source>The server stopped unexpectedly.</source>
   <translation>服务器意外停止。</translation>
  </message>
  <message>
   <source>The server is running but does not respond.</source>
   <translation>服务器在运行，但没有响应。</translation>
  </message>
  <message>
   <source>The server did not respond and was stopped.</source>
   <translation>服务器没有响应，已被终止。</translation>
  </message>
  <message>
   <source>The server was stopped by the system or another program.</source>
   <translation>服务器被系统或其他程序终止。</translation>
  </message>
  <message>
   <source>{0} It is being restarted.</source>
   <translation>{0}正在重新启动。</translation>
  </message>
  <message>
   <source>The server cannot be started. Install Moat again.</source>
   <translation>无法启动服务器。请重新安装 Moat。</translation>
  </message>
  <message>
   <source>The server did not respond in time.</source>
   <translation>服务器没有及时响应。</translation>
  </message>
  <message>
   <source>Deleting '{0}' would also delete {1}: delete that model first.</source>
   <translation>删除“{0}”也会删除 {1}：请先删除那个模型。</translation>
  </message>
  <message>
   <source>The download was cancelled.</source>
   <translation>下载已取消。</translation>
  </message>
  <message>
   <source>The engine does not support this: {0}.</source>
   <translation>引擎不支持：{0}。</translation>
  </message>
  <message>
   <source>Only a model that runs on this computer can be measured.</source>
   <translation>只能测量在这台电脑上运行的模型。</translation>
  </message>
  <message>
   <source>This model cannot be measured.</source>
   <translation>无法测量此模型。</translation>
  </message>
  <message>
   <source>The settings file could not be read; it was saved as {0}.</source>
   <translation>无法读取设置文件；已保留为 {0}。</translation>
  </message>
  <message>
   <source>The setting {0} was not valid and was reset to its default.</source>
   <translation>设置 {0} 无效，已恢复为默认值。</translation>
  </message>
  <message>
   <source>{0}: there is no {1}. There are: {2}.</source>
   <translation>{0}：没有 {1}。现有：{2}。</translation>
  </message>
  <message>
   <source>Part of the setting {0} was not valid and was ignored.</source>
   <translation>设置 {0} 的一部分无效，已忽略。</translation>
  </message>
  <message>
   <source>{0} decides the setting {1}.</source>
   <translation>{0} 决定设置 {1}。</translation>
  </message>
  <message>
   <source>The settings could not be saved: {0}.</source>
   <translation>无法保存设置：{0}。</translation>
  </message>
  <message>
   <source>{0} begins like JSON, but is none.</source>
   <translation>{0} 看起来像 JSON，但不是。</translation>
  </message>
  <message>
   <source>The setting {0} has an invalid value: {1}</source>
   <translation>设置 {0} 不能取这个值：{1}</translation>
  </message>
  <message>
   <source>{0} has an invalid value: {1}</source>
   <translation>{0} 不能是该值：{1}</translation>
  </message>
  <message>
   <source>Support for {0} is in place. The graphics card is used from now on.</source>
   <translation>{0} 支持已就绪。从现在起使用显卡。</translation>
  </message>
  <message>
   <source>Support for {0} is in place, but cannot be used. The Hardware page says why.</source>
   <translation>{0} 支持已就绪，但无法使用。原因见“硬件”页面。</translation>
  </message>
  <message>
   <source>Support for {0} is in place, and finds no card that it can use.</source>
   <translation>{0} 支持已就绪，但未找到可用的显卡。</translation>
  </message>
  <message>
   <source>{0} is too big to read.</source>
   <translation>{0} 太大，无法读取。</translation>
  </message>
  <message>
   <source>{0} could not be read: {1}.</source>
   <translation>无法读取 {0}：{1}。</translation>
  </message>
  <message>
   <source>There is no model '{0}' here.</source>
   <translation>这里没有模型“{0}”。</translation>
  </message>
  <message>
   <source>There is no file {0}.</source>
   <translation>没有文件 {0}。</translation>
  </message>
  <message>
   <source>{0} did not answer after the computer slept and was loaded again.</source>
   <translation>电脑休眠后 {0} 没有响应，已重新加载。</translation>
  </message>
  <message>
   <source>It does not respond.</source>
   <translation>它没有回应。</translation>
  </message>
  <message>
   <source>A model on this machine is called '{0}'.</source>
   <translation>这台机器上已有名为“{0}”的模型。</translation>
  </message>
  <message>
   <source>'{0}' was set on the command line for this session.</source>
   <translation>“{0}”是在命令行中为本次会话指定的。</translation>
  </message>
  <message>
   <source>There is no engine '{0}' in the settings.</source>
   <translation>设置中没有引擎“{0}”。</translation>
  </message>
  <message>
   <source>The variable {0} would be the key of '{1}' and of '{2}'. Rename one of them.</source>
   <translation>变量 {0} 会同时作为“{1}”和“{2}”的密钥。请重命名其中一个。</translation>
  </message>
  <message>
   <source>The engine at {0} does not answer.</source>
   <translation>{0} 上的引擎没有回应。</translation>
  </message>
  <message>
   <source>No support for graphics cards is missing on this computer.</source>
   <translation>这台电脑不缺少显卡支持。</translation>
  </message>
  <message>
   <source>The list is for engine {0}; this one is {1}.</source>
   <translation>该列表适用于引擎 {0}；当前引擎为 {1}。</translation>
  </message>
  <message>
   <source>The address of release files must begin with https://.</source>
   <translation>发布文件的地址必须以 https:// 开头。</translation>
  </message>
  <message>
   <source>No support for {0} is published for this system and engine {1}.</source>
   <translation>尚未为此系统和引擎 {1} 发布 {0} 支持。</translation>
  </message>
  <message>
   <source>{0} is damaged and was deleted. Download it again.</source>
   <translation>{0} 已损坏并被删除。请重新下载。</translation>
  </message>
  <message>
   <source>The connection to {0} broke. Check it and try again.</source>
   <translation>与 {0} 的连接中断。请检查连接后重试。</translation>
  </message>
  <message>
   <source>{0} holds no library for {1} and engine {2}.</source>
   <translation>{0} 中没有适用于 {1} 和引擎 {2} 的库。</translation>
  </message>
  <message>
   <source>{0} refuses the file: {1}.</source>
   <translation>{0} 拒绝提供该文件：{1}。</translation>
  </message>
  <message>
   <source>{0} fails: {1}.</source>
   <translation>{0} 失败：{1}。</translation>
  </message>
  <message>
   <source>A key needs a name of 1 to {0} visible characters.</source>
   <translation>密钥名称需为 1 到 {0} 个可见字符。</translation>
  </message>
  <message>
   <source>There is a key '{0}' already. Revoke it first.</source>
   <translation>已有密钥“{0}”。请先撤销它。</translation>
  </message>
  <message>
   <source>A limit is 0 (none) or more.</source>
   <translation>限制为 0（无）或更大。</translation>
  </message>
  <message>
   <source>There is no key '{0}'.</source>
   <translation>没有密钥“{0}”。</translation>
  </message>
  <message>
   <source>The keys could not be saved: {0}. They hold until Moat ends.</source>
   <translation>密钥无法保存：{0}。它们在 Moat 结束前有效。</translation>
  </message>
  <message>
   <source>The request was cancelled in Moat's window.</source>
   <translation>请求已在 Moat 窗口中取消。</translation>
  </message>
  <message>
   <source>The request was cancelled by its client.</source>
   <translation>该请求已被其客户端取消。</translation>
  </message>
  <message>
   <source>Something went wrong inside Moat; the log says what.</source>
   <translation>Moat 内部出错；详情见日志。</translation>
  </message>
  <message>
   <source>There is no file or folder {0}.</source>
   <translation>没有文件或文件夹 {0}。</translation>
  </message>
  <message>
   <source>{0} more files were not read whole.</source>
   <translation>另有 {0} 个文件未完整读取。</translation>
  </message>
  <message>
   <source>No update feed is set. Enter an https address and a key in Settings → Updates.</source>
   <translation>未设置更新源。请在“设置 → 更新”中填写 https 地址和密钥。</translation>
  </message>
  <message>
   <source>The update information could not be loaded: {0}.</source>
   <translation>无法加载更新信息：{0}。</translation>
  </message>
  <message>
   <source>The update information is too large.</source>
   <translation>更新信息过大。</translation>
  </message>
  <message>
   <source>The update information has no valid signature.</source>
   <translation>更新信息没有有效签名。</translation>
  </message>
  <message>
   <source>Checking for updates is turned off. Turn it on in Settings → Updates.</source>
   <translation>检查更新已关闭。请在“设置 → 更新”中开启。</translation>
  </message>
  <message>
   <source>Cannot reach {0}. Check the connection and try again.</source>
   <translation>无法连接到 {0}。请检查网络连接后重试。</translation>
  </message>
  <message>
   <source>The address does not return update information.</source>
   <translation>该地址返回的不是更新信息。</translation>
  </message>
  <message>
   <source>The update information is signed but cannot be read.</source>
   <translation>更新信息已签名，但无法读取。</translation>
  </message>
  <message>
   <source>{0} redirects to another host.</source>
   <translation>{0} 重定向到另一台主机。</translation>
  </message>
  <message>
   <source>{0} redirects a change: it is not sent a second time.</source>
   <translation>{0} 重定向了一项更改：不会再次发送。</translation>
  </message>
  <message>
   <source>{0} redirects to an unencrypted address.</source>
   <translation>{0} 重定向到未加密的地址。</translation>
  </message>
  <message>
   <source>{0} redirects without end.</source>
   <translation>{0} 无休止地重定向。</translation>
  </message>
  <message>
   <source>The proxy does not connect to {0}.</source>
   <translation>代理服务器未能连接到 {0}。</translation>
  </message>
  <message>
   <source>Offline mode is on, so Moat opens no outgoing connection. Turn it off in Settings → Network.</source>
   <translation>离线模式已开启，因此 Moat 不建立出站连接。可在“设置 → 网络”中关闭。</translation>
  </message>
  <message>
   <source>Addresses of the kind '{0}' are never opened.</source>
   <translation>从不打开“{0}”类型的地址。</translation>
  </message>
  <message>
   <source>{0} redirects to {1}, which is not allowed for: {2}.</source>
   <translation>{0} 重定向到 {1}，而后者不允许用于：{2}。</translation>
  </message>
  <message>
   <source>{0} is not allowed for: {1}.</source>
   <translation>{0} 不允许用于：{1}。</translation>
  </message>
  <message>
   <source>An address that cannot be read is never opened.</source>
   <translation>从不打开无法读取的地址。</translation>
  </message>
  <message>
   <source>{0} leads to a private address.</source>
   <translation>{0} 指向私有地址。</translation>
  </message>
  <message>
   <source>A request that cannot be written is never sent.</source>
   <translation>从不发送无法写出的请求。</translation>
  </message>
  <message>
   <source>The certificate {0} cannot be read: {1}.</source>
   <translation>无法读取证书 {0}：{1}。</translation>
  </message>
  <message>
   <source>This model's maximum context length is {0} tokens. However, the prompt has {1} tokens. Please shorten it.</source>
   <translation>该模型的最大上下文长度为 {0} 个词元，而提示有 {1} 个词元。请缩短提示。</translation>
  </message>
  <message>
   <source>There is no model '{0}' here. Installed: {1}.</source>
   <translation>这里没有模型“{0}”。已安装：{1}。</translation>
  </message>
  <message>
   <source>No model is installed. Open Moat and pick one on the Models page.</source>
   <translation>没有安装模型。请打开 Moat，在“模型”页选择一个。</translation>
  </message>
  <message>
   <source>{0} could not be loaded: {1} {2} stays the default model.</source>
   <translation>无法加载 {0}：{1} {2} 仍是默认模型。</translation>
  </message>
  <message>
   <source>{0} is damaged: {1}.</source>
   <translation>{0} 已损坏：{1}。</translation>
  </message>
  <message>
   <source>The queue is full ({0} requests wait). Try again shortly.</source>
   <translation>队列已满（{0} 个请求在等待）。请稍后再试。</translation>
  </message>
  <message>
   <source>This key was revoked. Ask whoever runs this Moat for another.</source>
   <translation>此密钥已被撤销。请向运行此 Moat 的人索取另一把。</translation>
  </message>
  <message>
   <source>The key '{0}' may not use the model '{1}'. It may use: {2}.</source>
   <translation>密钥“{0}”不能使用模型“{1}”。可用：{2}。</translation>
  </message>
  <message>
   <source>The key '{0}' may not {1}.</source>
   <translation>密钥“{0}”不允许：{1}。</translation>
  </message>
  <message>
   <source>The key '{0}' may have {1} requests at a time, and they are under way. Try again shortly.</source>
   <translation>密钥“{0}”最多同时有 {1} 个请求，且都在进行中。请稍后再试。</translation>
  </message>
  <message>
   <source>The key '{0}' has used its {1} tokens of today. It can go on at midnight UTC.</source>
   <translation>密钥“{0}”已用完今天的 {1} 个词元。UTC 午夜后可继续。</translation>
  </message>
  <message>
   <source>Moat is shutting down.</source>
   <translation>Moat 正在关闭。</translation>
  </message>
  <message>
   <source>The server does not respond.</source>
   <translation>服务器没有响应。</translation>
  </message>
  <message>
   <source>This system has no usable keyring: secrets are stored unencrypted in {0}.</source>
   <translation>此系统没有可用的密钥环：凭据以未加密形式存放在 {0}。</translation>
  </message>
  <message>
   <source>The system's keyring does not work just now. Unlock it and try again.</source>
   <translation>系统密钥环暂时无法使用。请将其解锁后重试。</translation>
  </message>
  <message>
   <source>{0} is an archive, not a document.</source>
   <translation>{0} 是压缩包，不是文档。</translation>
  </message>
  <message>
   <source>{0} is not text.</source>
   <translation>{0} 不是文本。</translation>
  </message>
  <message>
   <source>{0} is protected by a password.</source>
   <translation>{0} 受密码保护。</translation>
  </message>
  <message>
   <source>Only the first {0} of {1} pages of {2} were read.</source>
   <translation>只读取了 {2} 的 {1} 页中的前 {0} 页。</translation>
  </message>
  <message>
   <source>{0} of {1} pages of {2} were too big to read.</source>
   <translation>{2} 的 {1} 页中有 {0} 页太大，无法读取。</translation>
  </message>
  <message>
   <source>Only the first {0} of {1} sheets of {2} were read.</source>
   <translation>只读取了 {2} 的 {1} 个工作表中的前 {0} 个工作表。</translation>
  </message>
  <message>
   <source>{0} is damaged or not what it claims to be.</source>
   <translation>{0} 已损坏，或并不是它声称的文件。</translation>
  </message>
  <message>
   <source>{0} is damaged: its contents could not be decoded.</source>
   <translation>{0} 已损坏：无法解码其内容。</translation>
  </message>
  <message>
   <source>Only the first {0} of {1} rows of {2} were read.</source>
   <translation>只读取了 {2} 的 {1} 行中的前 {0} 行。</translation>
  </message>
  <message>
   <source>Only the first {0} of {1} columns of {2} were read.</source>
   <translation>只读取了 {2} 的 {1} 列中的前 {0} 列。</translation>
  </message>
  <message>
   <source>{0} holds no text; it may be a scan, and Moat does not read pictures.</source>
   <translation>{0} 中没有文字；可能是扫描件，而 Moat 不读取图片。</translation>
  </message>
  <message>
   <source>{0} cannot be read; save it as xlsx.</source>
   <translation>无法读取 {0}；请另存为 xlsx。</translation>
  </message>
  <message>
   <source>There are no rows to draw.</source>
   <translation>没有可绘制的行。</translation>
  </message>
  <message>
   <source>There are no rows to draw: 'render' needs a table of data.</source>
   <translation>没有可绘制的行：render 需要一张数据表。</translation>
  </message>
  <message>
   <source>There is no column of numbers to draw.</source>
   <translation>没有可绘制的数字列。</translation>
  </message>
  <message>
   <source>The chart is refused at '{0}': {1}</source>
   <translation>图表在“{0}”处被拒绝：{1}</translation>
  </message>
  <message>
   <source>{0} has Excel's or Word's old format and cannot be read; save it as xlsx or docx.</source>
   <translation>{0} 是 Excel 或 Word 的旧格式，无法读取；请另存为 xlsx 或 docx。</translation>
  </message>
  <message>
   <source>Only SELECT is allowed.</source>
   <translation>只允许 SELECT。</translation>
  </message>
  <message>
   <source>The table {0} has no columns.</source>
   <translation>表 {0} 没有列。</translation>
  </message>
  <message>
   <source>The query failed: {0}.</source>
   <translation>查询失败：{0}。</translation>
  </message>
  <message>
   <source>The tables take too long to fill.</source>
   <translation>填充表格用时过长。</translation>
  </message>
  <message>
   <source>There is no database {0}.</source>
   <translation>没有数据库 {0}。</translation>
  </message>
  <message>
   <source>{0} cannot be read as a table: {1}.</source>
   <translation>{0} 无法作为表格读取：{1}。</translation>
  </message>
  <message>
   <source>The model's answer ended without a reason.</source>
   <translation>模型的回答结束了，但没有说明原因。</translation>
  </message>
  <message>
   <source>'{0}' cannot be combined with 'tools'.</source>
   <translation>“{0}”不能与“tools”一起使用。</translation>
  </message>
  <message>
   <source>{0}, {1}</source>
   <translation>{0}、{1}</translation>
  </message>
  <message>
   <source>{0} {1}</source>
   <translation>{0}{1}</translation>
  </message>
  <message>
   <source>System prompts, tools and thoughts may be missing until that succeeds; it is tried again with the next question.</source>
   <translation>在试用成功之前，系统提示、工具和思考可能缺失；下一次提问时会再试。</translation>
  </message>
  <message>
   <source>System prompts, tools or thoughts may not reach the model.</source>
   <translation>系统提示、工具或思考可能无法传达给模型。</translation>
  </message>
  <message>
   <source>{0}: The chat template could not be tried out: {1}. {2}</source>
   <translation>{0}：无法试用聊天模板：{1}。{2}</translation>
  </message>
  <message>
   <source>{0} does not fit: {1}</source>
   <translation>{0} 放不下：{1}</translation>
  </message>
  <message>
   <source>The engine was started again and could not use the graphics card.</source>
   <translation>引擎已重新启动，但无法使用显卡。</translation>
  </message>
  <message>
   <source>{0} cannot read images: the vision projector {1} does not match this model.</source>
   <translation>{0} 无法读取图片：视觉投影器 {1} 与此模型不匹配。</translation>
  </message>
  <message>
   <source>{0} runs on the processor. {1}</source>
   <translation>{0} 在处理器上运行。{1}</translation>
  </message>
  <message>
   <source>The engine stopped: {0}.</source>
   <translation>引擎已停止：{0}。</translation>
  </message>
  <message>
   <source>The model could not be loaded. {0}</source>
   <translation>无法加载模型。{0}</translation>
  </message>
  <message>
   <source>The model needs about {0} MB of memory, but only {1} MB are allowed.</source>
   <translation>模型大约需要 {0} MB 内存，但只允许 {1} MB。</translation>
  </message>
  <message>
   <source>The model was unloaded before it was ready.</source>
   <translation>模型在就绪之前已被卸载。</translation>
  </message>
  <message>
   <source>The engine could not be started. Install Moat again, or see the log.</source>
   <translation>无法启动引擎。请重新安装 Moat，或查看日志。</translation>
  </message>
  <message>
   <source>{0} This happened repeatedly.</source>
   <translation>{0}这种情况反复发生。</translation>
  </message>
  <message>
   <source>The engine on the other machine takes only a JSON schema, and only for a chat.</source>
   <translation>另一台机器上的引擎只接受 JSON 模式，且仅限对话。</translation>
  </message>
  <message>
   <source>The engine on the other machine cannot fill a gap in a text.</source>
   <translation>另一台机器上的引擎无法填补文本中的空缺。</translation>
  </message>
  <message>
   <source>If that network is yours, name its domain in the settings, under Network.</source>
   <translation>如果那是您自己的网络，请在设置的“网络”中填写其域名。</translation>
  </message>
  <message>
   <source>The engine at {0} made a call that does not fit: {1}.</source>
   <translation>{0} 上的引擎作出了不符合要求的调用：{1}。</translation>
  </message>
  <message>
   <source>The engine at {0} does not keep to the JSON schema: {1}.</source>
   <translation>{0} 上的引擎没有遵守 JSON 模式：{1}。</translation>
  </message>
  <message>
   <source>The engine at {0} cannot keep to the JSON schema: {1}.</source>
   <translation>{0} 上的引擎无法遵守该 JSON 模式：{1}。</translation>
  </message>
  <message>
   <source>The engine at {0} has no {1}.</source>
   <translation>{0} 上的引擎没有 {1}。</translation>
  </message>
  <message>
   <source>The engine at {0} sent {1}.</source>
   <translation>{0} 上的引擎发送了 {1}。</translation>
  </message>
  <message>
   <source>The engine at {0} failed: {1}</source>
   <translation>{0} 上的引擎出错：{1}</translation>
  </message>
  <message>
   <source>The engine at {0} serves {1}, not '{2}'.</source>
   <translation>{0} 上的引擎提供 {1}，而不是“{2}”。</translation>
  </message>
  <message>
   <source>The engine at {0} ended the answer early.</source>
   <translation>{0} 上的引擎过早结束了回答。</translation>
  </message>
  <message>
   <source>The engine at {0} called no tool although it must.</source>
   <translation>{0} 上的引擎必须调用工具，却没有调用。</translation>
  </message>
  <message>
   <source>The engine at {0} cannot be reached or broke off.</source>
   <translation>无法连接 {0} 上的引擎，或连接中断。</translation>
  </message>
  <message>
   <source>The engine at {0} does not accept our key.</source>
   <translation>{0} 上的引擎不接受我们的密钥。</translation>
  </message>
  <message>
   <source>The engine at {0} reports: {1}</source>
   <translation>{0} 上的引擎报告：{1}</translation>
  </message>
  <message>
   <source>The engine at {0} redirects requests.</source>
   <translation>{0} 上的引擎会重定向请求。</translation>
  </message>
  <message>
   <source>The engine at {0} is at a private address. {1}</source>
   <translation>{0} 上的引擎位于私有地址。{1}</translation>
  </message>
  <message>
   <source>'{0}' cannot be the name of a model.</source>
   <translation>“{0}”不能作为模型名称。</translation>
  </message>
  <message>
   <source>There is already a model '{0}'.</source>
   <translation>已有模型“{0}”。</translation>
  </message>
  <message>
   <source>Name a repository instead: hf.co/owner/repository, or hf.co/owner/repository:Q4_K_M.</source>
   <translation>请改为指定仓库：hf.co/owner/repository，或 hf.co/owner/repository:Q4_K_M。</translation>
  </message>
  <message>
   <source>{0} is more capable, but would write about {1:.1f} tokens per second here; this one writes about {2:.1f}.</source>
   <translation>{0} 能力更强，但在这里每秒大约只能写 {1:.1f} 个词元；这个模型大约写 {2:.1f} 个。</translation>
  </message>
  <message>
   <source>No model in this list is more capable.</source>
   <translation>这个列表中没有能力更强的模型。</translation>
  </message>
  <message>
   <source>It is the most capable that fits: the others need more memory than is free.</source>
   <translation>它是放得下的模型中能力最强的：其他模型需要的内存多于可用内存。</translation>
  </message>
  <message>
   <source>{0} is more capable, but would run slowly here.</source>
   <translation>{0} 能力更强，但在这里会很慢。</translation>
  </message>
  <message>
   <source>New models are being looked for already.</source>
   <translation>已在查找新模型。</translation>
  </message>
  <message>
   <source>Looking for new models was cancelled.</source>
   <translation>查找新模型已取消。</translation>
  </message>
  <message>
   <source>The hub names no new model that fits this computer.</source>
   <translation>模型库没有适合这台电脑的新模型。</translation>
  </message>
  <message>
   <source>Asking for the models of {0} ({1} of {2}).</source>
   <translation>正在查询 {0} 的模型（{1}/{2}）。</translation>
  </message>
  <message>
   <source>Reading {0} ({1} of {2}).</source>
   <translation>正在读取 {0}（{1}/{2}）。</translation>
  </message>
  <message>
   <source>Popular on the hub on {0}.</source>
   <translation>{0} 在模型库中很受欢迎。</translation>
  </message>
  <message>
   <source>Without a graphics card it will write slowly.</source>
   <translation>没有显卡，写得会很慢。</translation>
  </message>
  <message>
   <source>There was not enough memory, so the model runs with {0}.</source>
   <translation>内存不足，因此模型改为这样运行：{0}。</translation>
  </message>
  <message>
   <source>It takes {0}.</source>
   <translation>占用：{0}。</translation>
  </message>
  <message>
   <source>{0} of {1} layers on the card: the rest is slow.</source>
   <translation>{1} 层中有 {0} 层在显卡上：其余的较慢。</translation>
  </message>
  <message>
   <source>{0} has only {1} free.</source>
   <translation>{0} 只有 {1} 空闲。</translation>
  </message>
  <message>
   <source>{0}, used before, was not found: check its driver, or restart the computer.</source>
   <translation>未找到以前使用的 {0}：请检查驱动程序，或重新启动电脑。</translation>
  </message>
  <message>
   <source>There is no graphics card that the engine can use.</source>
   <translation>没有引擎可用的显卡。</translation>
  </message>
  <message>
   <source>The file does not say how large the model's layers are.</source>
   <translation>文件没有说明模型各层的大小。</translation>
  </message>
  <message>
   <source>{0} lacks {1}: put fewer layers on it.</source>
   <translation>{0}缺少 {1}：请减少放在上面的层数。</translation>
  </message>
  <message>
   <source>{0}; this machine has {1} in all.</source>
   <translation>{0}；这台机器总共有 {1}。</translation>
  </message>
  <message>
   <source>{0} with the experts of {1} layers on the processor</source>
   <translation>{0}，{1} 层的专家在处理器上</translation>
  </message>
  <message>
   <source>The engine did not put it on {0}; the log says why.</source>
   <translation>引擎没有把它放到 {0} 上；原因见日志。</translation>
  </message>
  <message>
   <source>{0}: close other programs, or choose a smaller model.</source>
   <translation>{0}：请关闭其他程序，或选用更小的模型。</translation>
  </message>
  <message>
   <source>The hub needs a token, and Moat sends none unencrypted: use its https address.</source>
   <translation>模型库要求令牌，而 Moat 不会以未加密方式发送令牌：请使用其 https 地址。</translation>
  </message>
  <message>
   <source>The connection to the hub broke. Check the connection and try again.</source>
   <translation>与模型库的连接中断。请检查网络连接后重试。</translation>
  </message>
  <message>
   <source>The hub stopped responding.</source>
   <translation>模型库不再响应。</translation>
  </message>
  <message>
   <source>Cannot reach {0}. Check the connection, or set a mirror in Settings → Network.</source>
   <translation>无法连接 {0}。请检查网络连接，或在“设置 → 网络”中设置镜像。</translation>
  </message>
  <message>
   <source>The hub sent the file in an unexpected encoding.</source>
   <translation>模型库以意外的编码发送了文件。</translation>
  </message>
  <message>
   <source>The hub (or a proxy) sent the wrong part of the file.</source>
   <translation>模型库（或代理服务器）发送了文件的错误部分。</translation>
  </message>
  <message>
   <source>The hub has no such file.</source>
   <translation>模型库没有这样的文件。</translation>
  </message>
  <message>
   <source>The hub has no such revision.</source>
   <translation>模型库没有这样的版本。</translation>
  </message>
  <message>
   <source>The hub answered with the error {0}.</source>
   <translation>模型库返回错误 {0}。</translation>
  </message>
  <message>
   <source>The hub refuses access. It may want a token.</source>
   <translation>模型仓库拒绝访问。它可能需要令牌。</translation>
  </message>
  <message>
   <source>The hub needs a token: accept the model's terms on its page, then add it.</source>
   <translation>模型库需要令牌：请先在其页面上接受模型条款，再添加令牌。</translation>
  </message>
  <message>
   <source>The hub refuses: accept the model's terms on its page first. A fine-grained token must also be allowed to read gated repositories.</source>
   <translation>模型仓库拒绝：请先在其网页上接受该模型的条款。细粒度令牌还必须获准读取受限仓库。</translation>
  </message>
  <message>
   <source>The hub does not accept the saved token. Save a valid one, or remove it.</source>
   <translation>模型仓库不接受已保存的令牌。请保存有效的令牌，或将其移除。</translation>
  </message>
  <message>
   <source>The hub shows no such repository. Check its name; a private one needs its token.</source>
   <translation>模型仓库未显示此仓库。请检查名称；私有仓库需要其令牌。</translation>
  </message>
  <message>
   <source>The hub has no such repository.</source>
   <translation>模型仓库没有此仓库。</translation>
  </message>
  <message>
   <source>The hub has disabled this repository.</source>
   <translation>模型库已停用此仓库。</translation>
  </message>
  <message>
   <source>The hub asks to wait: too many requests.</source>
   <translation>模型库要求等待：请求过多。</translation>
  </message>
  <message>
   <source>The hub refuses access: the saved token may not read this.</source>
   <translation>模型仓库拒绝访问：已保存的令牌无权读取此内容。</translation>
  </message>
  <message>
   <source>The hub has no such repository or file.</source>
   <translation>模型库中没有这个仓库或文件。</translation>
  </message>
  <message>
   <source>The hub answers only with a token.</source>
   <translation>模型仓库只在提供令牌时应答。</translation>
  </message>
  <message>
   <source>The hub's answer is far too long.</source>
   <translation>模型库的回应过长。</translation>
  </message>
  <message>
   <source>The hub's answer cannot be understood.</source>
   <translation>无法理解模型库的回应。</translation>
  </message>
  <message>
   <source>Starter model, for trying Moat out: answers short, simple questions. For real work, download a larger model.</source>
   <translation>入门模型，用于试用 Moat：回答简短的问题。实际工作请下载更大的模型。</translation>
  </message>
  <message>
   <source>{0} is a vision projector, not a model: load it together with its model.</source>
   <translation>{0} 是视觉投影器，不是模型：请与对应的模型一起加载。</translation>
  </message>
  <message>
   <source>The starter model is part of the program.</source>
   <translation>入门模型是程序的一部分。</translation>
  </message>
  <message>
   <source>This model belongs to another program; delete it there.</source>
   <translation>此模型属于另一个程序；请在那里删除。</translation>
  </message>
  <message>
   <source>{0} was found, but this build of the engine cannot use it.</source>
   <translation>检测到 {0}，但此引擎版本无法使用它。</translation>
  </message>
  <message>
   <source>Support for graphics cards ({0}) is not used: {1}.</source>
   <translation>未使用显卡支持（{0}）：{1}。</translation>
  </message>
  <message>
   <source>A repository is named owner/name.</source>
   <translation>仓库的名称形如 owner/name。</translation>
  </message>
  <message>
   <source>That is not the name of a revision.</source>
   <translation>这不是修订版本的名称。</translation>
  </message>
  <message>
   <source>That file name is not allowed.</source>
   <translation>不允许使用该文件名。</translation>
  </message>
  <message>
   <source>That file would be outside the model folder.</source>
   <translation>该文件会位于模型文件夹之外。</translation>
  </message>
  <message>
   <source>There is no such file in {0}. There are: {1}.</source>
   <translation>{0} 中没有这个文件。现有：{1}。</translation>
  </message>
  <message>
   <source>Moat does not know from which repository this file is.</source>
   <translation>Moat 不知道此文件来自哪个仓库。</translation>
  </message>
  <message>
   <source>This repository holds no GGUF files.</source>
   <translation>此仓库中没有 GGUF 文件。</translation>
  </message>
  <message>
   <source>'{0}' runs on another server: Moat can only remove it from its list.</source>
   <translation>“{0}”在其他服务器上运行：Moat 只能将它从列表中移除。</translation>
  </message>
  <message>
   <source>A model has no setting '{0}' of its own: {1}.</source>
   <translation>模型没有自己的设置“{0}”：{1}。</translation>
  </message>
  <message>
   <source>The hub has no newer file of this model.</source>
   <translation>模型库没有此模型的更新文件。</translation>
  </message>
  <message>
   <source>No other program of this computer is signed in.</source>
   <translation>这台电脑上没有其他已登录的程序。</translation>
  </message>
  <message>
   <source>The disk is full: {0} MB more are needed.</source>
   <translation>磁盘已满：还需要 {0} MB。</translation>
  </message>
  <message>
   <source>{0} Trying again in {1} s.</source>
   <translation>{0}{1} 秒后重试。</translation>
  </message>
  <message>
   <source>The hub ended the file before its end.</source>
   <translation>模型库在文件结束前中断了传输。</translation>
  </message>
  <message>
   <source>The hub no longer has this file.</source>
   <translation>模型库中已没有这个文件。</translation>
  </message>
  <message>
   <source>The checksum was wrong twice, so the file was deleted.</source>
   <translation>校验和两次不符，文件已删除。</translation>
  </message>
  <message>
   <source>The disk could not be written: {0}.</source>
   <translation>写入磁盘失败：{0}。</translation>
  </message>
  <message>
   <source>The disk cannot be written: {0}.</source>
   <translation>无法写入磁盘：{0}。</translation>
  </message>
  <message>
   <source>The download cannot start: {0}.</source>
   <translation>无法开始下载：{0}。</translation>
  </message>
  <message>
   <source>The disk is full.</source>
   <translation>磁盘已满。</translation>
  </message>
  <message>
   <source>There is nothing to download.</source>
   <translation>没有可下载的内容。</translation>
  </message>
  <message>
   <source>{0} is already installed.</source>
   <translation>{0} 已安装。</translation>
  </message>
  <message>
   <source>There is no such download.</source>
   <translation>没有这个下载。</translation>
  </message>
  <message>
   <source>Another program is downloading this file.</source>
   <translation>另一个程序正在下载此文件。</translation>
  </message>
  <message>
   <source>{0} It continues when there is space.</source>
   <translation>{0}有空间后会继续。</translation>
  </message>
  <message>
   <source>The hub's file changes again and again.</source>
   <translation>模型库中的文件不断变化。</translation>
  </message>
  <message>
   <source>The chat template is not the one the model's makers publish.</source>
   <translation>聊天模板与模型制作者发布的不同。</translation>
  </message>
  <message>
   <source>The chat template acts differently at certain dates.</source>
   <translation>聊天模板在某些日期会有不同表现。</translation>
  </message>
  <message>
   <source>The file has no chat template; a plain one is used.</source>
   <translation>文件没有自带聊天模板；使用简单模板。</translation>
  </message>
  <message>
   <source>The chat template is far longer than any known one.</source>
   <translation>聊天模板远长于任何已知的模板。</translation>
  </message>
  <message>
   <source>The chat template contains the address {0}.</source>
   <translation>聊天模板中含有地址 {0}。</translation>
  </message>
  <message>
   <source>The chat template cannot be read.</source>
   <translation>无法读取聊天模板。</translation>
  </message>
  <message>
   <source>The chat template acts differently when a message holds “{0}”.</source>
   <translation>消息中含有“{0}”时，聊天模板会有不同表现。</translation>
  </message>
  <message>
   <source>'{0}' is no kind of constraint.</source>
   <translation>“{0}”不是一种约束类型。</translation>
  </message>
  <message>
   <source>The schema cannot be enforced at {0}: {1}</source>
   <translation>无法在 {0} 处强制执行该模式：{1}</translation>
  </message>
  <message>
   <source>{0} cannot be enforced: {1}</source>
   <translation>无法强制执行 {0}：{1}</translation>
  </message>
  <message>
   <source>The answer's grammar failed: {0}</source>
   <translation>回答的语法失败：{0}</translation>
  </message>
  <message>
   <source>The schema must be an object.</source>
   <translation>该模式必须是一个对象。</translation>
  </message>
  <message>
   <source>The schema is not JSON: {0}.</source>
   <translation>该模式不是 JSON：{0}。</translation>
  </message>
  <message>
   <source>There is not enough memory for a context of {0} tokens for each of {1} answers.</source>
   <translation>内存不足以为 {1} 个回答各保留 {0} 个词元的上下文。</translation>
  </message>
  <message>
   <source>The adapter {0} does not fit.</source>
   <translation>适配器 {0} 不匹配。</translation>
  </message>
  <message>
   <source>llama.cpp could not load {0}; the log says why.</source>
   <translation>llama.cpp 无法加载 {0}；原因见日志。</translation>
  </message>
  <message>
   <source>{0} is not a GGUF model file.</source>
   <translation>{0} 不是 GGUF 模型文件。</translation>
  </message>
  <message>
   <source>There is no graphics card number {0}; the engine finds {1}, from 0 on.</source>
   <translation>没有编号为 {0} 的显卡；引擎找到 {1} 块，从 0 开始编号。</translation>
  </message>
  <message>
   <source>The draft model {0} has another vocabulary.</source>
   <translation>草稿模型 {0} 的词表不同。</translation>
  </message>
  <message>
   <source>llama.cpp could not compute the answer; the log says why.</source>
   <translation>llama.cpp 无法计算回答；原因见日志。</translation>
  </message>
  <message>
   <source>No model is loaded yet.</source>
   <translation>尚未加载模型。</translation>
  </message>
  <message>
   <source>The worker does not know '{0}'.</source>
   <translation>工作进程不认识“{0}”。</translation>
  </message>
  <message>
   <source>At most {0} characters are tokenised.</source>
   <translation>最多对 {0} 个字符进行分词。</translation>
  </message>
  <message>
   <source>At most {0} tokens are read at once.</source>
   <translation>一次最多读取 {0} 个词元。</translation>
  </message>
  <message>
   <source>The request could not be read: {0}.</source>
   <translation>无法读取请求：{0}。</translation>
  </message>
  <message>
   <source>The prompt could not be read: {0}.</source>
   <translation>无法读取问题：{0}。</translation>
  </message>
  <message>
   <source>The prompt has {0} tokens; the model has room for {1}.</source>
   <translation>提示有 {0} 个词元；该模型只能容纳 {1} 个。</translation>
  </message>
  <message>
   <source>An image is damaged, or not a PNG, JPEG, GIF, WebP or BMP file.</source>
   <translation>有图片已损坏，或不是 PNG、JPEG、GIF、WebP、BMP 之一。</translation>
  </message>
  <message>
   <source>There are {0} images; at most {1} are read at once.</source>
   <translation>共有 {0} 张图片；一次最多读取 {1} 张。</translation>
  </message>
  <message>
   <source>An image is larger than {0} MB.</source>
   <translation>有图片大于 {0} MB。</translation>
  </message>
  <message>
   <source>An image has {0} x {1} pixels; at most {2} million are read.</source>
   <translation>有图片为 {0} x {1} 像素；最多读取 {2} 百万像素。</translation>
  </message>
  <message>
   <source>An image of {0} x {1} pixels is too narrow to be read.</source>
   <translation>{0} x {1} 像素的图片太窄，无法查看。</translation>
  </message>
  <message>
   <source>The images together are too large; send fewer or smaller ones.</source>
   <translation>图片总量过大；请减少数量或使用更小的图片。</translation>
  </message>
  <message>
   <source>The model's chat template does not show the last message as it is.</source>
   <translation>该模型的聊天模板没有原样显示最后一条消息。</translation>
  </message>
  <message>
   <source>The prompt is empty.</source>
   <translation>提问为空。</translation>
  </message>
  <message>
   <source>This model cannot read images.</source>
   <translation>此模型无法读取图片。</translation>
  </message>
  <message>
   <source>The model's chat template does not show where the images are.</source>
   <translation>模型的聊天模板没有标明图片的位置。</translation>
  </message>
  <message>
   <source>The model's chat template could not be rendered: {0}.</source>
   <translation>无法渲染模型的聊天模板：{0}。</translation>
  </message>
  <message>
   <source>it did not answer for {0:g} seconds</source>
   <translation>它在 {0:g} 秒内没有回应</translation>
  </message>
  <message>
   <source>The vision projector {0} does not match {1}.</source>
   <translation>视觉投影器 {0} 与 {1} 不匹配。</translation>
  </message>
  <message>
   <source>The model cannot read one of the images.</source>
   <translation>模型无法查看其中一张图片。</translation>
  </message>
  <message>
   <source>An image takes {0} tokens that the model must read at once; it is loaded for {1} at a time.</source>
   <translation>有图片占 {0} 个词元，模型必须一次读完；而它加载时设定每次读取 {1} 个。</translation>
  </message>
  <message>
   <source>The vision projector does not match this model: the model lacks tokens it uses.</source>
   <translation>视觉投影器与此模型不匹配：模型缺少其所用的词元。</translation>
  </message>
  <message>
   <source>This step is too large for the model's context ({0} of {1} tokens).</source>
   <translation>此步骤超出模型的上下文（{0} / {1} 个词元）。</translation>
  </message>
  <message>
   <source>The arguments are not valid: {0}.</source>
   <translation>参数无效：{0}。</translation>
  </message>
  <message>
   <source>{0} took longer than {1:.0f} s.</source>
   <translation>{0} 用时超过 {1:.0f} 秒。</translation>
  </message>
  <message>
   <source>Waiting for permission: {0}</source>
   <translation>等待许可：{0}</translation>
  </message>
  <message>
   <source>There was nothing to do.</source>
   <translation>没有要做的事。</translation>
  </message>
  <message>
   <source>The model gave no answer.</source>
   <translation>模型没有给出回答。</translation>
  </message>
  <message>
   <source>The flow goes in circles at '{0}'.</source>
   <translation>流程在“{0}”处循环。</translation>
  </message>
  <message>
   <source>The flow took longer than {0:.0f} minutes.</source>
   <translation>流程用时超过 {0:.0f} 分钟。</translation>
  </message>
  <message>
   <source>The model wrote no query that works. {0}</source>
   <translation>模型没有写出可用的查询。{0}</translation>
  </message>
  <message>
   <source>A header or cookie cannot have line breaks.</source>
   <translation>标头或 Cookie 不能包含换行。</translation>
  </message>
  <message>
   <source>{0} answered with '{1}', which is not read.</source>
   <translation>{0} 返回了“{1}”，无法读取这种内容。</translation>
  </message>
  <message>
   <source>The answer is larger than {0} KB.</source>
   <translation>回应大于 {0} KB。</translation>
  </message>
  <message>
   <source>The plugin does not say where its API is.</source>
   <translation>插件没有说明其 API 的位置。</translation>
  </message>
  <message>
   <source>{0} answered with status {1}. Check the secrets of this plugin under Plugins.</source>
   <translation>{0} 返回状态 {1}。请在“插件”页面检查此插件的凭据。</translation>
  </message>
  <message>
   <source>{0} answered with status {1}.</source>
   <translation>{0} 返回状态 {1}。</translation>
  </message>
  <message>
   <source>No file was chosen for '{0}'.</source>
   <translation>没有为“{0}”选择文件。</translation>
  </message>
  <message>
   <source>'{0}' cannot be '{1}'.</source>
   <translation>“{0}”不能是“{1}”。</translation>
  </message>
  <message>
   <source>{0}: no answer in time.</source>
   <translation>{0}：没有及时回应。</translation>
  </message>
  <message>
   <source>{0} could not be reached: {1}.</source>
   <translation>无法连接 {0}：{1}。</translation>
  </message>
  <message>
   <source>The answer says it is JSON, but it is not.</source>
   <translation>回应自称是 JSON，但并不是。</translation>
  </message>
  <message>
   <source>Nobody answered in {0:.0f} s: {1} is denied.</source>
   <translation>{0:.0f} 秒内无人回答：{1} 已被拒绝。</translation>
  </message>
  <message>
   <source>The arguments must be an object.</source>
   <translation>参数必须是对象。</translation>
  </message>
  <message>
   <source>'{0}' is not a policy: use default, allow or block.</source>
   <translation>“{0}”不是有效的策略：default、allow 或 block。</translation>
  </message>
  <message>
   <source>A dangerous operation needs permission every time.</source>
   <translation>危险操作每次都需要许可。</translation>
  </message>
  <message>
   <source>{0} is blocked under Plugins.</source>
   <translation>{0} 已在“插件”页被禁止。</translation>
  </message>
  <message>
   <source>{0} was not allowed.</source>
   <translation>{0} 未获许可。</translation>
  </message>
  <message>
   <source>This question is no longer open.</source>
   <translation>这个问题已不再等待回答。</translation>
  </message>
  <message>
   <source>'{0}' is not an answer: use once, always or deny.</source>
   <translation>“{0}”不是有效的回答：once、always 或 deny。</translation>
  </message>
  <message>
   <source>The arguments are not JSON.</source>
   <translation>参数不是 JSON。</translation>
  </message>
  <message>
   <source>The form has no field '{0}'.</source>
   <translation>表单没有字段“{0}”。</translation>
  </message>
  <message>
   <source>There is no file '{0}'.</source>
   <translation>没有文件“{0}”。</translation>
  </message>
  <message>
   <source>{0} is larger than {1} MB.</source>
   <translation>{0} 大于 {1} MB。</translation>
  </message>
  <message>
   <source>The answers must be an object.</source>
   <translation>回答必须是对象。</translation>
  </message>
  <message>
   <source>The form was closed without an answer.</source>
   <translation>表单未作回答就被关闭。</translation>
  </message>
  <message>
   <source>This form is no longer open.</source>
   <translation>此表单已经关闭。</translation>
  </message>
  <message>
   <source>The answers are not JSON.</source>
   <translation>回答不是 JSON。</translation>
  </message>
  <message>
   <source>Nobody filled in the form in time.</source>
   <translation>没有人及时填写表单。</translation>
  </message>
  <message>
   <source>The server '{0}' failed: {1}</source>
   <translation>服务器“{0}”出错：{1}</translation>
  </message>
  <message>
   <source>{0} has no usable flow '{1}'.</source>
   <translation>{0} 没有可用的流程“{1}”。</translation>
  </message>
  <message>
   <source>Its server '{0}' failed: {1}</source>
   <translation>它的服务器“{0}”失败：{1}</translation>
  </message>
  <message>
   <source>It cannot be read.</source>
   <translation>无法读取它。</translation>
  </message>
  <message>
   <source>Plugins are paused, so '{0}' cannot answer: resume them under Plugins.</source>
   <translation>插件已暂停，因此“{0}”无法回答：请在“插件”中恢复。</translation>
  </message>
  <message>
   <source>The plugin '{0}' is switched off: enable it under Plugins.</source>
   <translation>插件“{0}”已关闭：请在“插件”中启用。</translation>
  </message>
  <message>
   <source>The flow '{0}' of {1} is broken.</source>
   <translation>{1} 的流程“{0}”已损坏。</translation>
  </message>
  <message>
   <source>The plugin '{0}' cannot answer.</source>
   <translation>插件“{0}”无法回答。</translation>
  </message>
  <message>
   <source>An address begins with http:// or https://.</source>
   <translation>地址以 http:// 或 https:// 开头。</translation>
  </message>
  <message>
   <source>This address cannot be read: it names no host or no such port.</source>
   <translation>无法读取此地址：未指明主机，或端口不存在。</translation>
  </message>
  <message>
   <source>'{0}' is neither true nor false.</source>
   <translation>“{0}”既不是 true 也不是 false。</translation>
  </message>
  <message>
   <source>There is no plugin '{0}'.</source>
   <translation>没有插件“{0}”。</translation>
  </message>
  <message>
   <source>The plugin '{0}' is broken.</source>
   <translation>插件“{0}”已损坏。</translation>
  </message>
  <message>
   <source>The plugin '{0}' has changed: look at it and enable it again.</source>
   <translation>插件“{0}”已更改：请查看后重新启用。</translation>
  </message>
  <message>
   <source>It has: {0}.</source>
   <translation>它有：{0}。</translation>
  </message>
  <message>
   <source>The plugin '{0}' has no flow '{1}'.</source>
   <translation>插件“{0}”没有流程“{1}”。</translation>
  </message>
  <message>
   <source>There is a plugin '{0}' already.</source>
   <translation>已有插件“{0}”。</translation>
  </message>
  <message>
   <source>{0} is broken and cannot be enabled.</source>
   <translation>{0} 已损坏，无法启用。</translation>
  </message>
  <message>
   <source>{0} comes with Moat; disable it instead.</source>
   <translation>{0} 是 Moat 自带的；请改为停用。</translation>
  </message>
  <message>
   <source>{0} has no sign-in provider.</source>
   <translation>{0} 没有登录提供方。</translation>
  </message>
  <message>
   <source>Enable {0} before you sign in.</source>
   <translation>登录前请先启用 {0}。</translation>
  </message>
  <message>
   <source>'{0}' is not a mode: use dry, mock or run.</source>
   <translation>“{0}”不是有效的方式：dry、mock 或 run。</translation>
  </message>
  <message>
   <source>Enable {0} before you run it.</source>
   <translation>运行前请先启用 {0}。</translation>
  </message>
  <message>
   <source>Plugins are paused; resume them to run one.</source>
   <translation>插件已暂停；要运行请先恢复。</translation>
  </message>
  <message>
   <source>Enable {0} first: even a trial runs its code.</source>
   <translation>请先启用 {0}：即使试用也会运行其代码。</translation>
  </message>
  <message>
   <source>{0} has no secret '{1}'.</source>
   <translation>{0} 没有名为“{1}”的凭据。</translation>
  </message>
  <message>
   <source>{0} has no tool '{1}'.</source>
   <translation>{0} 没有工具“{1}”。</translation>
  </message>
  <message>
   <source>{0} has no option '{1}'.</source>
   <translation>{0} 没有选项“{1}”。</translation>
  </message>
  <message>
   <source>Nobody signed in within {0:.0f} s.</source>
   <translation>{0:.0f} 秒内无人登录。</translation>
  </message>
  <message>
   <source>A plugin has at most {0} files and {1} MB.</source>
   <translation>插件最多有 {0} 个文件、{1} MB。</translation>
  </message>
  <message>
   <source>There is no earlier version of {0}.</source>
   <translation>{0} 没有更早的版本。</translation>
  </message>
  <message>
   <source>'{0}' cannot be a plugin's name.</source>
   <translation>“{0}”不能作为插件名称。</translation>
  </message>
  <message>
   <source>{0} This archive has {1} entries.</source>
   <translation>{0}此压缩包有 {1} 个条目。</translation>
  </message>
  <message>
   <source>The archive has no plugin.json at its root or in its one folder.</source>
   <translation>压缩包的根目录或唯一的文件夹中没有 plugin.json。</translation>
  </message>
  <message>
   <source>This is not a plugin: {0}</source>
   <translation>这不是插件：{0}</translation>
  </message>
  <message>
   <source>{0} is a link; links are not copied.</source>
   <translation>{0} 是链接；不会复制链接。</translation>
  </message>
  <message>
   <source>{0} is not a zip file that can be unpacked.</source>
   <translation>{0} 不是可以解压的 zip 文件。</translation>
  </message>
  <message>
   <source>The archive has an entry that leads outside: '{0}'.</source>
   <translation>压缩包中有指向外部的条目：“{0}”。</translation>
  </message>
  <message>
   <source>The archive has an entry that is not a file: '{0}'.</source>
   <translation>压缩包中有不是文件的条目：“{0}”。</translation>
  </message>
  <message>
   <source>The archive is encrypted.</source>
   <translation>压缩包已加密。</translation>
  </message>
  <message>
   <source>{0} '{1}' would go beyond that.</source>
   <translation>{0}“{1}”会超出限制。</translation>
  </message>
  <message>
   <source>'{0}' is larger than it says.</source>
   <translation>“{0}”比它声明的更大。</translation>
  </message>
  <message>
   <source>The dry run stops here: nothing was sent.</source>
   <translation>试运行到此为止：没有发送任何内容。</translation>
  </message>
  <message>
   <source>Enable {0} first: even a trial of this step runs its code.</source>
   <translation>请先启用 {0}：即使试运行此步骤也会执行其代码。</translation>
  </message>
  <message>
   <source>{0} is off: allow changing methods for {1} first.</source>
   <translation>{0} 已关闭：请先允许 {1} 修改和删除。</translation>
  </message>
  <message>
   <source>It said: {0}</source>
   <translation>它报告：{0}</translation>
  </message>
  <message>
   <source>Choose '{0}' for {1} under Plugins first.</source>
   <translation>请先在“插件”页为 {1} 选择“{0}”。</translation>
  </message>
  <message>
   <source>{0} has no MCP server '{1}'.</source>
   <translation>{0} 没有 MCP 服务器“{1}”。</translation>
  </message>
  <message>
   <source>{0} has no endpoint '{1}'.</source>
   <translation>{0} 没有端点“{1}”。</translation>
  </message>
  <message>
   <source>A tool may only read over HTTP; declare an API to change things.</source>
   <translation>工具只能通过 HTTP 读取；要进行更改请声明 API。</translation>
  </message>
  <message>
   <source>{0} did not list its tools: {1}</source>
   <translation>{0} 没有告知其工具：{1}</translation>
  </message>
  <message>
   <source>no answer.</source>
   <translation>没有回答。</translation>
  </message>
  <message>
   <source>Sign-in needed: {0} has no '{1}' yet. Enter it under Plugins.</source>
   <translation>需要登录：{0} 还没有“{1}”。请在“插件”页填写。</translation>
  </message>
  <message>
   <source>The provider's identity does not match.</source>
   <translation>提供方的身份不符。</translation>
  </message>
  <message>
   <source>The provider gives no safe address to sign in at.</source>
   <translation>提供方没有给出安全的登录地址。</translation>
  </message>
  <message>
   <source>The provider gave no usable token.</source>
   <translation>提供方没有给出可用的令牌。</translation>
  </message>
  <message>
   <source>The provider refused the sign-in (status {0}).</source>
   <translation>提供方拒绝了登录（状态 {0}）。</translation>
  </message>
  <message>
   <source>The sign-in has expired. Sign in again under Plugins.</source>
   <translation>登录已过期。请在“插件”页重新登录。</translation>
  </message>
  <message>
   <source>The provider could not be reached to sign in.</source>
   <translation>无法连接提供方进行登录。</translation>
  </message>
  <message>
   <source>The provider did not sign you in.</source>
   <translation>提供方没有让您登录。</translation>
  </message>
  <message>
   <source>The plugin's code sent an unexpected answer and was stopped.</source>
   <translation>插件的代码发送了意外的回答，已被终止。</translation>
  </message>
  <message>
   <source>The plugin's code {0}.</source>
   <translation>插件的代码{0}。</translation>
  </message>
  <message>
   <source>The tool {0} failed: {1}</source>
   <translation>工具 {0} 失败：{1}</translation>
  </message>
  <message>
   <source>The plugin's code fails: {0}</source>
   <translation>插件的代码出错：{0}</translation>
  </message>
  <message>
   <source>The plugin's code does not start in time.</source>
   <translation>插件的代码没有及时启动。</translation>
  </message>
  <message>
   <source>The tool's result is too large.</source>
   <translation>工具的结果过大。</translation>
  </message>
  <message>
   <source>Moat refused a connection that its program wanted: {0}</source>
   <translation>Moat 拒绝了其程序请求的连接：{0}</translation>
  </message>
  <message>
   <source>{0} has ended.</source>
   <translation>{0} 已结束。</translation>
  </message>
  <message>
   <source>{0} took longer than {1:.0f} s. It must read and write one JSON message per line, without Content-Length headers. Its log shows what it printed.</source>
   <translation>{0} 在 {1:.0f} 秒内没有应答。它必须每行读写一条 JSON 消息，不带 Content-Length 标头。它输出的内容见其日志。</translation>
  </message>
  <message>
   <source>{0} lists no MCP servers ('mcpServers' or 'servers').</source>
   <translation>{0} 没有列出 MCP 服务器（“mcpServers”或“servers”）。</translation>
  </message>
  <message>
   <source>{0} lists more than {1} MCP servers.</source>
   <translation>{0} 列出的 MCP 服务器超过 {1} 个。</translation>
  </message>
  <message>
   <source>There is no common MCP server '{0}'.</source>
   <translation>没有常用 MCP 服务器“{0}”。</translation>
  </message>
  <message>
   <source>The MCP server '{0}' takes no hosts.</source>
   <translation>MCP 服务器“{0}”不接受主机。</translation>
  </message>
  <message>
   <source>Name the hosts that '{0}' may reach.</source>
   <translation>请指定“{0}”可访问的主机。</translation>
  </message>
  <message>
   <source>'{0}' is not a host.</source>
   <translation>“{0}”不是主机。</translation>
  </message>
  <message>
   <source>The MCP server '{0}' of {1} is not an object.</source>
   <translation>{1} 中的 MCP 服务器“{0}”不是对象。</translation>
  </message>
  <message>
   <source>The MCP server '{0}' of {1} has no command and no address.</source>
   <translation>{1} 中的 MCP 服务器“{0}”既没有命令也没有地址。</translation>
  </message>
  <message>
   <source>The MCP server '{0}' has a variable in its arguments.</source>
   <translation>MCP 服务器“{0}”的参数中有变量。</translation>
  </message>
  <message>
   <source>The MCP server '{0}' speaks SSE, which the protocol has given up.</source>
   <translation>MCP 服务器“{0}”使用 SSE，而协议已不再支持它。</translation>
  </message>
  <message>
   <source>The address of the MCP server '{0}' cannot be used.</source>
   <translation>MCP 服务器“{0}”的地址无法使用。</translation>
  </message>
  <message>
   <source>{0} has two servers that would be called '{1}'.</source>
   <translation>{0} 中有两个服务器都会被称为“{1}”。</translation>
  </message>
  <message>
   <source>{0} cannot be read: {1}.</source>
   <translation>无法读取 {0}：{1}。</translation>
  </message>
  <message>
   <source>{0} is not JSON.</source>
   <translation>{0} 不是 JSON。</translation>
  </message>
  <message>
   <source>{0} did not ask for a sign-in.</source>
   <translation>{0} 没有要求登录。</translation>
  </message>
  <message>
   <source>{0} did not sign you in: {1}</source>
   <translation>{0} 未能让您登录：{1}</translation>
  </message>
  <message>
   <source>The package {0} of {1} could not be fetched in time ({2} MB arrived).</source>
   <translation>未能及时获取 {1} 的软件包 {0}（已收到 {2} MB）。</translation>
  </message>
  <message>
   <source>Its packages took more than {0} MB and were removed.</source>
   <translation>其软件包占用超过 {0} MB，已被删除。</translation>
  </message>
  <message>
   <source>The package {0} is there after {1:.0f} s ({2:.1f} MB). It is kept for the next start.</source>
   <translation>软件包 {0} 已在 {1:.0f} 秒后就绪（{2:.1f} MB），并保留供下次启动使用。</translation>
  </message>
  <message>
   <source>Fetching the package {0}: {1:.1f} MB so far</source>
   <translation>正在获取软件包 {0}：目前 {1:.1f} MB</translation>
  </message>
  <message>
   <source>{0} did not start within {1:.0f} s.</source>
   <translation>{0} 未能在 {1:.0f} 秒内启动。</translation>
  </message>
  <message>
   <source>It was ended: its packages take more than {0} MB.</source>
   <translation>已将其结束：其软件包占用超过 {0} MB。</translation>
  </message>
  <message>
   <source>The package {0} was not fetched.</source>
   <translation>未能获取软件包 {0}。</translation>
  </message>
  <message>
   <source>{0} cannot be started: {1}.</source>
   <translation>无法启动 {0}：{1}。</translation>
  </message>
  <message>
   <source>The program {0} is not installed on this computer, or its folder is not in the variable PATH.</source>
   <translation>这台电脑上没有安装程序 {0}，或者它的文件夹不在变量 PATH 中。</translation>
  </message>
  <message>
   <source>This sandbox is available on Linux only.</source>
   <translation>此沙箱仅在 Linux 上可用。</translation>
  </message>
  <message>
   <source>The MCP server has ended.</source>
   <translation>MCP 服务器已结束。</translation>
  </message>
  <message>
   <source>The MCP server's answer is too large.</source>
   <translation>MCP 服务器的回应过大。</translation>
  </message>
  <message>
   <source>The MCP server could not be reached: {0}.</source>
   <translation>无法连接 MCP 服务器：{0}。</translation>
  </message>
  <message>
   <source>The MCP server gave no answer.</source>
   <translation>MCP 服务器没有回答。</translation>
  </message>
  <message>
   <source>The MCP server answered with status {0}.</source>
   <translation>MCP 服务器返回状态 {0}。</translation>
  </message>
  <message>
   <source>The MCP server's answer is nested too deep.</source>
   <translation>MCP 服务器的回答嵌套过深。</translation>
  </message>
  <message>
   <source>{0} wants you to sign in. Do so under Plugins.</source>
   <translation>{0} 要求您登录。请在“插件”中登录。</translation>
  </message>
  <message>
   <source>{0} gives no safe address to sign in at.</source>
   <translation>{0} 没有给出安全的登录地址。</translation>
  </message>
  <message>
   <source>The sign-in was given up.</source>
   <translation>登录已放弃。</translation>
  </message>
  <message>
   <source>Too many requests at once.</source>
   <translation>同时请求过多。</translation>
  </message>
  <message>
   <source>Moat has nothing at {0}.</source>
   <translation>Moat 没有 {0} 这个地址。</translation>
  </message>
  <message>
   <source>The body is empty; JSON is expected.</source>
   <translation>请求正文为空；应为 JSON。</translation>
  </message>
  <message>
   <source>The body is packed in a way that is not known: use gzip or deflate.</source>
   <translation>正文的压缩方式未知：请使用 gzip 或 deflate。</translation>
  </message>
  <message>
   <source>The body has more than {0} bytes when it is unpacked.</source>
   <translation>正文解压后超过 {0} 字节。</translation>
  </message>
  <message>
   <source>A form may not be packed.</source>
   <translation>表单不得压缩。</translation>
  </message>
  <message>
   <source>The request's body took too long to arrive.</source>
   <translation>请求正文到达得太慢。</translation>
  </message>
  <message>
   <source>The body is broken, or not packed as its headers say.</source>
   <translation>请求正文已损坏，或未按其标头所述方式压缩。</translation>
  </message>
  <message>
   <source>The body is not valid JSON: {0}.</source>
   <translation>请求正文不是有效的 JSON：{0}。</translation>
  </message>
  <message>
   <source>'{0}' is longer than {1} characters.</source>
   <translation>“{0}”超过 {1} 个字符。</translation>
  </message>
  <message>
   <source>The body is no form that can be read.</source>
   <translation>请求内容不是可读取的表单。</translation>
  </message>
  <message>
   <source>A form may hold {0} MB.</source>
   <translation>表单最多可包含 {0} MB。</translation>
  </message>
  <message>
   <source>The form has too many parts, or forms inside it.</source>
   <translation>表单的部分过多，或包含嵌套的表单。</translation>
  </message>
  <message>
   <source>The system refused. The log says more.</source>
   <translation>系统拒绝了该操作。详情请查看日志。</translation>
  </message>
  <message>
   <source>There is no such command.</source>
   <translation>没有这个命令。</translation>
  </message>
  <message>
   <source>The system refused: {0}.</source>
   <translation>系统拒绝了：{0}。</translation>
  </message>
  <message>
   <source>{0} takes {1} only.</source>
   <translation>{0} 只接受 {1}。</translation>
  </message>
  <message>
   <source>The command's arguments are wrong: {0}</source>
   <translation>命令的参数有误：{0}</translation>
  </message>
  <message>
   <source>The body is larger than Moat's settings allow.</source>
   <translation>正文大于 Moat 设置所允许的大小。</translation>
  </message>
  <message>
   <source>Send Moat's access key as a bearer token. The Connect page shows it.</source>
   <translation>请以 Bearer 令牌发送 Moat 的访问密钥。“连接”页面会显示它。</translation>
  </message>
  <message>
   <source>Send application/json.</source>
   <translation>请发送 application/json。</translation>
  </message>
  <message>
   <source>This page may not use Moat.</source>
   <translation>此页面不能使用 Moat。</translation>
  </message>
  <message>
   <source>Port {0} is taken{1}; {2} uses {3}.</source>
   <translation>端口 {0} 已被占用{1}；{2} 改用 {3}。</translation>
  </message>
  <message>
   <source>The system refused.</source>
   <translation>系统拒绝了该操作。</translation>
  </message>
  <message>
   <source>The server cannot listen: {0}</source>
   <translation>服务器无法监听：{0}</translation>
  </message>
  <message>
   <source>HTTPS cannot be served: {0}</source>
   <translation>无法提供 HTTPS：{0}</translation>
  </message>
  <message>
   <source>Port {0} is taken{1}.</source>
   <translation>端口 {0} 已被占用{1}。</translation>
  </message>
  <message>
   <source>The log says more.</source>
   <translation>详情请查看日志。</translation>
  </message>
  <message>
   <source>No free port was found from {0} on.</source>
   <translation>从 {0} 起没有找到空闲端口。</translation>
  </message>
  <message>
   <source>Port {0} is taken.</source>
   <translation>端口 {0} 已被占用。</translation>
  </message>
  <message>
   <source>Tool: {0}</source>
   <translation>工具：{0}</translation>
  </message>
  <message>
   <source>remote agents</source>
   <translation>远程智能体</translation>
  </message>
  <message>
   <source>testing a remote engine</source>
   <translation>测试远程引擎</translation>
  </message>
  <message>
   <source>the engine {0}</source>
   <translation>引擎 {0}</translation>
  </message>
  <message>
   <source>fetching support for graphics cards</source>
   <translation>获取显卡支持</translation>
  </message>
  <message>
   <source>looking for support for graphics cards</source>
   <translation>查找显卡支持</translation>
  </message>
  <message>
   <source>check for updates</source>
   <translation>检查更新</translation>
  </message>
  <message>
   <source>access violation</source>
   <translation>访问冲突</translation>
  </message>
  <message>
   <source>illegal instruction</source>
   <translation>非法指令</translation>
  </message>
  <message>
   <source>stack overflow</source>
   <translation>栈溢出</translation>
  </message>
  <message>
   <source>it aborted</source>
   <translation>它已中止</translation>
  </message>
  <message>
   <source>out of memory</source>
   <translation>内存不足</translation>
  </message>
  <message>
   <source>segmentation fault</source>
   <translation>段错误</translation>
  </message>
  <message>
   <source>an instruction this processor does not have</source>
   <translation>此处理器不支持的指令</translation>
  </message>
  <message>
   <source>bad memory access</source>
   <translation>错误的内存访问</translation>
  </message>
  <message>
   <source>arithmetic fault</source>
   <translation>运算错误</translation>
  </message>
  <message>
   <source>killed, perhaps because memory ran out</source>
   <translation>被终止，可能因为内存耗尽</translation>
  </message>
  <message>
   <source>asked to end</source>
   <translation>被要求结束</translation>
  </message>
  <message>
   <source>it exited by itself (code {0})</source>
   <translation>它自行退出（代码 {0}）</translation>
  </message>
  <message>
   <source>killed by signal {0} ({1})</source>
   <translation>被信号 {0} 终止（{1}）</translation>
  </message>
  <message>
   <source>ended with code {0:#x} ({1})</source>
   <translation>以代码 {0:#x} 结束（{1}）</translation>
  </message>
  <message>
   <source>about {0}</source>
   <translation>约 {0}</translation>
  </message>
  <message>
   <source>unknown</source>
   <translation>未知</translation>
  </message>
  <message>
   <source>the engine on another machine</source>
   <translation>另一台机器上的引擎</translation>
  </message>
  <message>
   <source>none</source>
   <translation>无</translation>
  </message>
  <message>
   <source>status {0}</source>
   <translation>状态 {0}</translation>
  </message>
  <message>
   <source>Looking at the graphics card. At its first use, its driver may take minutes.</source>
   <translation>正在检查显卡。首次使用时，其驱动程序可能需要几分钟。</translation>
  </message>
  <message>
   <source>it sent something that is no message</source>
   <translation>它发来的内容不是消息</translation>
  </message>
  <message>
   <source>it closed its pipe</source>
   <translation>它关闭了管道</translation>
  </message>
  <message>
   <source>it was halted by a signal and did not go on</source>
   <translation>它被信号暂停，没有继续</translation>
  </message>
  <message>
   <source>it did not respond for {0:g} s</source>
   <translation>它 {0:g} 秒没有响应</translation>
  </message>
  <message>
   <source>loading made no progress for {0:g} s</source>
   <translation>加载在 {0:g} 秒内没有进展</translation>
  </message>
  <message>
   <source>it made no progress on an answer for {0:g} s</source>
   <translation>它在 {0:g} 秒内没有推进回答</translation>
  </message>
  <message>
   <source>its output is too long</source>
   <translation>其输出过长</translation>
  </message>
  <message>
   <source>it took too much memory</source>
   <translation>它占用了太多内存</translation>
  </message>
  <message>
   <source>it ran longer than {0:g} seconds</source>
   <translation>它运行超过 {0:g} 秒</translation>
  </message>
  <message>
   <source>the render process ended</source>
   <translation>渲染进程已结束</translation>
  </message>
  <message>
   <source>Calling {0}</source>
   <translation>正在调用 {0}</translation>
  </message>
  <message>
   <source>Chose {0}</source>
   <translation>选择了 {0}</translation>
  </message>
  <message>
   <source>Drew a {0} chart</source>
   <translation>绘制了图表（{0}）</translation>
  </message>
  <message>
   <source>The model took longer than {0:.0f} s.</source>
   <translation>模型用时超过 {0:.0f} 秒。</translation>
  </message>
  <message>
   <source>{0} rows</source>
   <translation>{0} 行</translation>
  </message>
  <message>
   <source>{0} of the {1} free</source>
   <translation>{0}，空闲 {1}</translation>
  </message>
  <message>
   <source>It needs {0} and {1} are free</source>
   <translation>需要 {0}，空闲 {1}</translation>
  </message>
  <message>
   <source>{0} on the graphics card, {1} in memory</source>
   <translation>显卡 {0}、内存 {1}</translation>
  </message>
  <message>
   <source>The graphics card</source>
   <translation>显卡</translation>
  </message>
  <message>
   <source>{0} (number {1})</source>
   <translation>{0}（第 {1} 块）</translation>
  </message>
  <message>
   <source>{0} tokens of context instead of {1}</source>
   <translation>上下文 {0} 个词元（原为 {1}）</translation>
  </message>
  <message>
   <source>{0} layers on the graphics card</source>
   <translation>{0} 层在显卡上</translation>
  </message>
  <message>
   <source>the experts of {0} layers on the processor</source>
   <translation>{0} 层的专家在处理器上</translation>
  </message>
  <message>
   <source>{0} answers at the same time instead of {1}</source>
   <translation>同时 {0} 个回答（原为 {1}）</translation>
  </message>
  <message>
   <source>a {0} cache</source>
   <translation>{0} 缓存</translation>
  </message>
  <message>
   <source>it is not the first file of a split model</source>
   <translation>它不是拆分模型的第一个文件</translation>
  </message>
  <message>
   <source>it is one of {0} files, but its name speaks of {1}</source>
   <translation>它是 {0} 个文件之一，但文件名说有 {1} 个</translation>
  </message>
  <message>
   <source>its files hold {0} tensors instead of {1}</source>
   <translation>其文件包含 {0} 个张量，而应有 {1} 个</translation>
  </message>
  <message>
   <source>it cannot be read ({0})</source>
   <translation>无法读取（{0}）</translation>
  </message>
  <message>
   <source>file {0} of {1} is missing ({2})</source>
   <translation>缺少 {1} 个文件中的第 {0} 个（{2}）</translation>
  </message>
  <message>
   <source>file {0} says it is another part</source>
   <translation>文件 {0} 声称自己是另一部分</translation>
  </message>
  <message>
   <source>it ends in the middle of its header</source>
   <translation>它在文件头中间结束</translation>
  </message>
  <message>
   <source>the name of a tensor</source>
   <translation>张量名称</translation>
  </message>
  <message>
   <source>it does not begin with the GGUF mark, so it is another kind of file</source>
   <translation>它不以 GGUF 标记开头，因此是另一种文件</translation>
  </message>
  <message>
   <source>version {0}</source>
   <translation>版本 {0}</translation>
  </message>
  <message>
   <source>it is a {0} GGUF file; only versions 2 and 3 can be read</source>
   <translation>它是 GGUF 文件（{0}）；只能读取版本 2 和 3</translation>
  </message>
  <message>
   <source>it claims {0} tensors (at most {1} are allowed)</source>
   <translation>它声称有 {0} 个张量（最多允许 {1} 个）</translation>
  </message>
  <message>
   <source>it claims {0} metadata entries (at most {1})</source>
   <translation>它声称有 {0} 条元数据（最多 {1} 条）</translation>
  </message>
  <message>
   <source>the name of metadata entry {0}</source>
   <translation>元数据条目 {0} 的名称</translation>
  </message>
  <message>
   <source>{0} has the unknown type {1}</source>
   <translation>{0} 的类型 {1} 未知</translation>
  </message>
  <message>
   <source>{0} is not a number</source>
   <translation>{0} 不是数字</translation>
  </message>
  <message>
   <source>{0} claims {1} entries (at most {2} are allowed)</source>
   <translation>{0} 声称有 {1} 个条目（最多允许 {2} 个）</translation>
  </message>
  <message>
   <source>{0} is an array of the unknown type {1}</source>
   <translation>{0} 是未知类型 {1} 的数组</translation>
  </message>
  <message>
   <source>its list of token types holds unknown types</source>
   <translation>其词元类型列表包含未知类型</translation>
  </message>
  <message>
   <source>it has more than {0} strings</source>
   <translation>它有超过 {0} 个字符串</translation>
  </message>
  <message>
   <source>a tensor's name has characters not allowed (at byte {0})</source>
   <translation>张量名称含有不允许的字符（字节 {0} 处）</translation>
  </message>
  <message>
   <source>the tensor {0} has {1} dimensions</source>
   <translation>张量 {0} 有 {1} 个维度</translation>
  </message>
  <message>
   <source>the tensor {0} has the impossible shape {1}</source>
   <translation>张量 {0} 的形状 {1} 不可能</translation>
  </message>
  <message>
   <source>the tensor {0} has the unknown number format {1}</source>
   <translation>张量 {0} 的数字格式 {1} 未知</translation>
  </message>
  <message>
   <source>the rows of the tensor {0} ({1}) are not whole {2} blocks</source>
   <translation>张量 {0} 的行（{1}）不是完整的 {2} 块</translation>
  </message>
  <message>
   <source>the alignment {0} is not a power of two</source>
   <translation>对齐值 {0} 不是 2 的幂</translation>
  </message>
  <message>
   <source>it ends in the middle of its header (at byte {0})</source>
   <translation>它在文件头中间结束（字节 {0} 处）</translation>
  </message>
  <message>
   <source>the length of {0} is {1} bytes (at most {2} are allowed)</source>
   <translation>{0} 的长度为 {1} 字节（最多允许 {2}）</translation>
  </message>
  <message>
   <source>the name of metadata entry {0} has characters not allowed</source>
   <translation>元数据条目 {0} 的名称含有不允许的字符</translation>
  </message>
  <message>
   <source>the metadata entry {0} is there twice</source>
   <translation>元数据条目 {0} 出现了两次</translation>
  </message>
  <message>
   <source>{0} should be true or false but is {1}</source>
   <translation>{0} 应为真或假，实际是 {1}</translation>
  </message>
  <message>
   <source>entry {0} of {1}</source>
   <translation>{1} 的条目 {0}</translation>
  </message>
  <message>
   <source>the length of entry {0} of {1} is {2} bytes</source>
   <translation>{1} 的条目 {0} 长度为 {2} 字节</translation>
  </message>
  <message>
   <source>the tensor {0} is there twice</source>
   <translation>张量 {0} 出现了两次</translation>
  </message>
  <message>
   <source>the tensor {0} lies at {1} instead of {2}</source>
   <translation>张量 {0} 位于 {1}，而应在 {2}</translation>
  </message>
  <message>
   <source>the tensor {0} ends {1} bytes behind the file's end</source>
   <translation>张量 {0} 超出文件末尾 {1} 字节</translation>
  </message>
  <message>
   <source>its header is larger than {0:.0f} MB</source>
   <translation>其文件头大于 {0:.0f} MB</translation>
  </message>
  <message>
   <source>{0} is not valid text (before byte {1})</source>
   <translation>{0} 不是有效文本（字节 {1} 之前）</translation>
  </message>
  <message>
   <source>an adapter for one</source>
   <translation>模型的适配器</translation>
  </message>
  <message>
   <source>a matrix of importance</source>
   <translation>重要性矩阵</translation>
  </message>
  <message>
   <source>it holds no tensors</source>
   <translation>它不包含任何张量</translation>
  </message>
  <message>
   <source>it has no layers</source>
   <translation>它没有层</translation>
  </message>
  <message>
   <source>it does not say which architecture the model has</source>
   <translation>它没有说明模型的架构</translation>
  </message>
  <message>
   <source>it is not a model but {0}</source>
   <translation>它不是模型，而是{0}</translation>
  </message>
  <message>
   <source>its vocabulary has {0} tokens</source>
   <translation>其词表有 {0} 个词元</translation>
  </message>
  <message>
   <source>the tensor output_norm.weight has shape {0} instead of ({1},)</source>
   <translation>张量 output_norm.weight 的形状为 {0}，而应为 ({1},)</translation>
  </message>
  <message>
   <source>it says it has {0} layers, but holds tensors of {1}</source>
   <translation>它声称有 {0} 层，却包含 {1} 层的张量</translation>
  </message>
  <message>
   <source>the tensor blk.0.{0} is missing</source>
   <translation>缺少张量 blk.0.{0}</translation>
  </message>
  <message>
   <source>{0} attention heads cannot share {1} key heads</source>
   <translation>{0} 个注意力头无法共享 {1} 个键头</translation>
  </message>
  <message>
   <source>rope.dimension_count is {0} for heads of {1}</source>
   <translation>rope.dimension_count 为 {0}，而头的大小为 {1}</translation>
  </message>
  <message>
   <source>{0} is not text</source>
   <translation>{0} 不是文本</translation>
  </message>
  <message>
   <source>the name of its architecture has characters not allowed</source>
   <translation>其架构名称包含不允许的字符</translation>
  </message>
  <message>
   <source>{0}.{1} is missing</source>
   <translation>缺少 {0}.{1}</translation>
  </message>
  <message>
   <source>tokenizer.ggml.{0} is not a list of {1}</source>
   <translation>tokenizer.ggml.{0} 不是 {1} 的列表</translation>
  </message>
  <message>
   <source>tokenizer.ggml.{0}_token_id is {1}, but there are {2} tokens</source>
   <translation>tokenizer.ggml.{0}_token_id 为 {1}，但只有 {2} 个词元</translation>
  </message>
  <message>
   <source>the token table is {0} wide, embedding_length says {1}</source>
   <translation>词元表宽 {0}，而 embedding_length 为 {1}</translation>
  </message>
  <message>
   <source>the token table has shape {0} for {1} tokens</source>
   <translation>词元表的形状为 {0}，而词元有 {1} 个</translation>
  </message>
  <message>
   <source>the token table (token_embd.weight) is missing</source>
   <translation>缺少词元表（token_embd.weight）</translation>
  </message>
  <message>
   <source>the tensor blk.{0}.{1} is missing or has no place</source>
   <translation>张量 blk.{0}.{1} 缺失或没有位置</translation>
  </message>
  <message>
   <source>the tensor blk.0.{0} has shape {1} instead of {2}</source>
   <translation>张量 blk.0.{0} 的形状为 {1}，而应为 {2}</translation>
  </message>
  <message>
   <source>{0} is not a whole number</source>
   <translation>{0} 不是整数</translation>
  </message>
  <message>
   <source>tokenizer.ggml.{0} has {1} entries for {2} tokens</source>
   <translation>tokenizer.ggml.{0} 有 {1} 个条目，而词元有 {2} 个</translation>
  </message>
  <message>
   <source>the tensor {0} has no place in a {1} model</source>
   <translation>张量 {0} 不属于 {1} 模型</translation>
  </message>
  <message>
   <source>the tensor blk.{0}.{1} has shape {2} unlike in layer 0</source>
   <translation>张量 blk.{0}.{1} 的形状为 {2}，与第 0 层不同</translation>
  </message>
  <message>
   <source>line {0}</source>
   <translation>第 {0} 行</translation>
  </message>
  <message>
   <source>searching for models</source>
   <translation>搜索模型</translation>
  </message>
  <message>
   <source>downloading a model</source>
   <translation>下载模型</translation>
  </message>
  <message>
   <source>damaged, or not a model</source>
   <translation>已损坏，或不是模型</translation>
  </message>
  <message>
   <source>Using {0}</source>
   <translation>使用 {0}</translation>
  </message>
  <message>
   <source>{0}: {1}</source>
   <translation>{0}：{1}</translation>
  </message>
  <message>
   <source>Step {0}</source>
   <translation>步骤 {0}</translation>
  </message>
  <message>
   <source>plugin {0}</source>
   <translation>插件 {0}</translation>
  </message>
  <message>
   <source>{0} has not listed its tools yet …</source>
   <translation>{0} 尚未列出其工具…</translation>
  </message>
  <message>
   <source>Fetching the package {0}</source>
   <translation>正在获取软件包 {0}</translation>
  </message>
  <message>
   <source>took too much memory</source>
   <translation>占用了太多内存</translation>
  </message>
  <message>
   <source>ended unexpectedly</source>
   <translation>意外结束</translation>
  </message>
  <message>
   <source>A web page is allowed as https://host or http://host:port.</source>
   <translation>网页须以 https://host 或 http://host:port 的形式允许。</translation>
  </message>
  <message>
   <source>A proxy is written as http://host:port.</source>
   <translation>代理服务器的写法为 http://host:port。</translation>
  </message>
  <message>
   <source>A proxy is written as 127.0.0.1 or 10.0.0.0/8.</source>
   <translation>反向代理写作 127.0.0.1 或 10.0.0.0/8。</translation>
  </message>
  <message>
   <source>An engine is written as http://host:port/v1, without a name or password in it.</source>
   <translation>引擎写作 http://host:port/v1，其中不含用户名或密码。</translation>
  </message>
  <message>
   <source>{0:.1f} GB</source>
   <translation>{0:.1f} GB</translation>
  </message>
  <message>
   <source>another program</source>
   <translation>另一个程序</translation>
  </message>
  <message>
   <source>{0} (process {1})</source>
   <translation>{0}（进程 {1}）</translation>
  </message>
  <message>
   <source> by {0}</source>
   <translation>，占用者是 {0}</translation>
  </message>
  <message>
   <source>Short answers on very small machines; reads pictures.</source>
   <translation>适合很小的电脑：简短回答，能看图片。</translation>
  </message>
  <message>
   <source>Fast and small; simple questions, simple tool calls.</source>
   <translation>又快又小；简单问题，简单的工具调用。</translation>
  </message>
  <message>
   <source>Simple questions and tool calls on a small laptop; reads pictures.</source>
   <translation>小型笔记本电脑上的简单问题和工具调用；能看图片。</translation>
  </message>
  <message>
   <source>A good start on a laptop without a graphics card; calls tools.</source>
   <translation>适合没有显卡的笔记本起步；会调用工具。</translation>
  </message>
  <message>
   <source>Business texts, summaries, long documents; calls tools.</source>
   <translation>商务文本、摘要、长文档；会调用工具。</translation>
  </message>
  <message>
   <source>European languages, tool calls, pictures; small.</source>
   <translation>欧洲语言、工具调用、图片；体积小。</translation>
  </message>
  <message>
   <source>Reasoning, tables, tool calls; keeps long conversations quick.</source>
   <translation>推理、表格、工具调用；长对话也保持快速。</translation>
  </message>
  <message>
   <source>The best of the small ones: reasoning, tables, tool calls, pictures.</source>
   <translation>小模型中最好的：推理、表格、工具调用、图片。</translation>
  </message>
  <message>
   <source>Many languages and pictures on a small laptop; calls tools.</source>
   <translation>小型笔记本电脑上的多语言和图片；能调用工具。</translation>
  </message>
  <message>
   <source>Many languages, pictures and charts; calls tools.</source>
   <translation>多语言、图片和图表；能调用工具。</translation>
  </message>
  <message>
   <source>Several languages, long texts, thinking when asked.</source>
   <translation>多种语言、长文本，可按要求思考。</translation>
  </message>
  <message>
   <source>Sound analysis and reliable tool calls; needs 8 GB of free memory.</source>
   <translation>分析可靠，工具调用稳定；需要 8 GB 空闲内存。</translation>
  </message>
  <message>
   <source>Very quick on a processor; its licence limits large companies.</source>
   <translation>在处理器上非常快；许可证对大公司有限制。</translation>
  </message>
  <message>
   <source>European languages, careful tool calls, pictures.</source>
   <translation>欧洲语言、谨慎的工具调用、图片。</translation>
  </message>
  <message>
   <source>Enterprise texts, citations from documents, tool calls.</source>
   <translation>企业文本、引用文档、工具调用。</translation>
  </message>
  <message>
   <source>Sound analysis, reliable tool calls, charts and scanned pages.</source>
   <translation>可靠的分析和工具调用，能读图表和扫描页面。</translation>
  </message>
  <message>
   <source>Many languages, long texts, pictures; best with a graphics card.</source>
   <translation>多语言、长文本、图片；最好有显卡。</translation>
  </message>
  <message>
   <source>European languages, deeper analysis, pictures; best with a graphics card.</source>
   <translation>欧洲语言、更深入的分析、图片；最好有显卡。</translation>
  </message>
  <message>
   <source>Deeper analysis; best with a graphics card of 12 GB or more.</source>
   <translation>更深入的分析；最好配 12 GB 以上的显卡。</translation>
  </message>
  <message>
   <source>Strong reasoning and tool calls; quick for its size.</source>
   <translation>推理和工具调用能力强；在同等大小的模型中速度快。</translation>
  </message>
  <message>
   <source>Many languages and pictures; only a seventh of it works on each token.</source>
   <translation>多语言和图片；处理每个词元时只有七分之一的参数参与计算。</translation>
  </message>
  <message>
   <source>The newest of its kind: long tasks with tools; needs a graphics card.</source>
   <translation>同类中最新的：使用工具的长任务；需要显卡。</translation>
  </message>
  <message>
   <source>Deep analysis and long tasks with tools; needs a graphics card.</source>
   <translation>深入分析和使用工具的长任务；需要显卡。</translation>
  </message>
  <message>
   <source>Many languages, careful reasoning, pictures; needs a large graphics card.</source>
   <translation>多语言、谨慎推理、图片；需要大显卡。</translation>
  </message>
  <message>
   <source>Strong; only a tenth of it works on each token, so it runs on a processor.</source>
   <translation>能力强；处理每个词元时只有十分之一的参数参与计算，因此能在处理器上运行。</translation>
  </message>
  <message>
   <source>The strongest that runs on a processor: only a tenth of it works on each token.</source>
   <translation>能在处理器上运行的最强模型：处理每个词元时只有十分之一的参数参与计算。</translation>
  </message>
  <message>
   <source>The strongest at reasoning in this list; for a workstation with a lot of memory.</source>
   <translation>本列表中推理能力最强的；适合内存很大的工作站。</translation>
  </message>
  <message>
   <source>Finds passages in English documents.</source>
   <translation>在英文文档中查找段落。</translation>
  </message>
  <message>
   <source>Finds passages in documents of many languages.</source>
   <translation>在多种语言的文档中查找段落。</translation>
  </message>
  <message>
   <source>A trial server that shows all that MCP can do: try forms, progress and prompts with it.</source>
   <translation>展示 MCP 全部功能的试用服务器：可试用表单、进度和提示词。</translation>
  </message>
  <message>
   <source>Nothing beside its package.</source>
   <translation>除自身软件包外不访问任何内容。</translation>
  </message>
  <message>
   <source>Fetches a web page and gives its text as Markdown.</source>
   <translation>获取网页并以 Markdown 给出其文字。</translation>
  </message>
  <message>
   <source>The hosts that you name, and the stores of its packages: it gets some by npm.</source>
   <translation>您指定的主机，以及其软件包的来源：其中一些通过 npm 获取。</translation>
  </message>
  <message>
   <source>Lists, searches and reads files.</source>
   <translation>列出、搜索并读取文件。</translation>
  </message>
  <message>
   <source>The folders that you choose, to read.</source>
   <translation>您选择的文件夹，只读。</translation>
  </message>
  <message>
   <source>Folders that it may read</source>
   <translation>允许读取的文件夹</translation>
  </message>
  <message>
   <source>Reads a Git repository: its state, its history, what changed.</source>
   <translation>读取 Git 仓库：状态、历史和更改。</translation>
  </message>
  <message>
   <source>The repository that you choose, to read.</source>
   <translation>您选择的仓库，只读。</translation>
  </message>
  <message>
   <source>The repository's folder</source>
   <translation>仓库文件夹</translation>
  </message>
  <message>
   <source>Notes names and how they belong together, for as long as it runs.</source>
   <translation>在运行期间记录名称及其关系。</translation>
  </message>
  <message>
   <source>Lets a model write its thoughts down step by step, and revise them.</source>
   <translation>让模型逐步写下并修改自己的思路。</translation>
  </message>
  <message>
   <source>Asks an SQLite database by SQL.</source>
   <translation>用 SQL 查询 SQLite 数据库。</translation>
  </message>
  <message>
   <source>The database that you choose, to read.</source>
   <translation>您选择的数据库，只读。</translation>
  </message>
  <message>
   <source>The database's file</source>
   <translation>数据库文件</translation>
  </message>
  <message>
   <source>Tells the time, and converts it between time zones.</source>
   <translation>报时，并在时区之间换算。</translation>
  </message>
 </context>
</TS>
