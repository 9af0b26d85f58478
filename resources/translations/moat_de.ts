<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de">
 <context>
  <name>Moat</name>
  <message>
   <source>{name} is an image, and the model in use cannot see images.</source>
   <translation>{name} ist ein Bild, und das Modell in Gebrauch kann keine Bilder sehen.</translation>
  </message>
  <message>
   <source>{name} is larger than {size}.</source>
   <translation>{name} ist größer als {size}.</translation>
  </message>
  <message>
   <source>{name} is not a text file.</source>
   <translation>{name} ist keine Textdatei.</translation>
  </message>
  <message>
   <source>{name} is not the image it claims to be.</source>
   <translation>{name} ist nicht das Bild, das es zu sein vorgibt.</translation>
  </message>
  <message>
   <source>{name} holds no text.</source>
   <translation>{name} enthält keinen Text.</translation>
  </message>
  <message>
   <source>{name} could not be read: {why}.</source>
   <translation>{name} konnte nicht gelesen werden: {why}.</translation>
  </message>
  <message>
   <source>{count} points from {first} to {last}.</source>
   <translation>{count} Punkte von {first} bis {last}.</translation>
  </message>
  <message>
   <source>Line chart</source>
   <translation>Liniendiagramm</translation>
  </message>
  <message>
   <source>Bar chart</source>
   <translation>Balkendiagramm</translation>
  </message>
  <message>
   <source>Scatter chart</source>
   <translation>Punktdiagramm</translation>
  </message>
  <message>
   <source>Pie chart</source>
   <translation>Kreisdiagramm</translation>
  </message>
  <message>
   <source>Ring chart</source>
   <translation>Ringdiagramm</translation>
  </message>
  <message>
   <source>{name}: lowest {low} at {low_at}, highest {high} at {high_at}.</source>
   <translation>{name}: kleinster Wert {low} bei {low_at}, größter {high} bei {high_at}.</translation>
  </message>
  <message>
   <source>Open the copilot's menu in OpenBB Workspace, choose to add an agent, and paste:</source>
   <translation>Öffnen Sie in OpenBB Workspace das Menü des Copiloten, fügen Sie einen Agenten hinzu und setzen Sie ein:</translation>
  </message>
  <message>
   <source>Older OpenBB programs read another file from the same address:</source>
   <translation>Ältere OpenBB-Programme lesen eine andere Datei von derselben Adresse:</translation>
  </message>
  <message>
   <source>OpenBB Terminal (legacy)</source>
   <translation>OpenBB Terminal (alt)</translation>
  </message>
  <message>
   <source>Any program that speaks to OpenAI works with this base address:</source>
   <translation>Jedes Programm, das OpenAI spricht, arbeitet mit dieser Basisadresse:</translation>
  </message>
  <message>
   <source>Give your React app this runtime address; add its origin if it is not allowed:</source>
   <translation>Geben Sie Ihrer React-App diese Adresse; erlauben Sie deren Herkunft, falls nötig:</translation>
  </message>
  <message>
   <source>In Continue's config.yaml; Cursor and others have the same three fields:</source>
   <translation>In der config.yaml von Continue; Cursor und andere haben dieselben drei Felder:</translation>
  </message>
  <message>
   <source>Code editors (Continue, Cursor)</source>
   <translation>Code-Editoren (Continue, Cursor)</translation>
  </message>
  <message>
   <source>Programs made for Ollama only need another host:</source>
   <translation>Programme für Ollama brauchen nur einen anderen Host:</translation>
  </message>
  <message>
   <source>Ollama programs</source>
   <translation>Ollama-Programme</translation>
  </message>
  <message>
   <source>It found the agent “{name}”.</source>
   <translation>Es fand den Agenten „{name}“.</translation>
  </message>
  <message>
   <source>It found: {names}.</source>
   <translation>Gefunden: {names}.</translation>
  </message>
  <message>
   <source>{model} answered ({count} token asked for).</source>
   <translation>{model} hat geantwortet ({count} Token verlangt).</translation>
  </message>
  <message>
   <source>It was answered, but no model is on this computer yet.</source>
   <translation>Es kam eine Antwort, aber auf diesem Computer ist noch kein Modell.</translation>
  </message>
  <message>
   <source>Prompts, documents and answers are worked on here and stay here.</source>
   <translation>Fragen, Dokumente und Antworten werden hier bearbeitet und bleiben hier.</translation>
  </message>
  <message>
   <source>Requests</source>
   <translation>Anfragen</translation>
  </message>
  <message>
   <source>Outgoing</source>
   <translation>Ausgehend</translation>
  </message>
  <message>
   <source>Other machines may connect to Moat: their answers go to them.</source>
   <translation>Andere Rechner dürfen sich verbinden: ihre Antworten gehen zu ihnen.</translation>
  </message>
  <message>
   <source>Moat is set to offline: every outgoing connection is refused.</source>
   <translation>Moat ist offline gestellt: jede ausgehende Verbindung wird verweigert.</translation>
  </message>
  <message>
   <source>Parts of this page</source>
   <translation>Teile dieser Seite</translation>
  </message>
  <message>
   <source>Requests that have ended</source>
   <translation>Beendete Anfragen</translation>
  </message>
  <message>
   <source>Outgoing connections</source>
   <translation>Ausgehende Verbindungen</translation>
  </message>
  <message>
   <source>Moat has connected to {count} hosts.</source>
   <translation>Moat hat sich mit {count} Hosts verbunden.</translation>
  </message>
  <message>
   <source>No request has come yet.</source>
   <translation>Noch keine Anfrage ist gekommen.</translation>
  </message>
  <message>
   <source>Nothing went out.</source>
   <translation>Nichts ging hinaus.</translation>
  </message>
  <message>
   <source>Activity</source>
   <translation>Aktivität</translation>
  </message>
  <message>
   <source>Nothing has left this machine since {time}.</source>
   <translation>Seit {time} hat nichts diesen Rechner verlassen.</translation>
  </message>
  <message>
   <source>Moat has connected to {host} and nowhere else.</source>
   <translation>Moat hat sich mit {host} verbunden und sonst mit niemandem.</translation>
  </message>
  <message>
   <source>Last at {time}: {why}.</source>
   <translation>Zuletzt um {time}: {why}.</translation>
  </message>
  <message>
   <source>New chat</source>
   <translation>Neuer Chat</translation>
  </message>
  <message>
   <source>Chats</source>
   <translation>Chats</translation>
  </message>
  <message>
   <source>Options</source>
   <translation>Optionen</translation>
  </message>
  <message>
   <source>Write a message</source>
   <translation>Nachricht schreiben</translation>
  </message>
  <message>
   <source>Start Moat to write to a model</source>
   <translation>Starten Sie Moat, um einem Modell zu schreiben</translation>
  </message>
  <message>
   <source>{used} of {all} tokens of context used</source>
   <translation>{used} von {all} Token Kontext benutzt</translation>
  </message>
  <message>
   <source>Attach files</source>
   <translation>Dateien anhängen</translation>
  </message>
  <message>
   <source>Export this chat</source>
   <translation>Diesen Chat exportieren</translation>
  </message>
  <message>
   <source>Show kept chats</source>
   <translation>Aufgehobene Chats zeigen</translation>
  </message>
  <message>
   <source>Show options</source>
   <translation>Optionen zeigen</translation>
  </message>
  <message>
   <source>Remove the attached files</source>
   <translation>Angehängte Dateien entfernen</translation>
  </message>
  <message>
   <source>The chat could not be exported: {why}.</source>
   <translation>Der Chat konnte nicht exportiert werden: {why}.</translation>
  </message>
  <message>
   <source>Chat</source>
   <translation>Chat</translation>
  </message>
  <message>
   <source>With {names}</source>
   <translation>Mit {names}</translation>
  </message>
  <message>
   <source>Connect</source>
   <translation>Verbinden</translation>
  </message>
  <message>
   <source>Use these settings</source>
   <translation>Diese Einstellungen benutzen</translation>
  </message>
  <message>
   <source>Undo</source>
   <translation>Zurücknehmen</translation>
  </message>
  <message>
   <source>Model to judge</source>
   <translation>Zu beurteilendes Modell</translation>
  </message>
  <message>
   <source>How a model would sit in it</source>
   <translation>Wie ein Modell hineinpassen würde</translation>
  </message>
  <message>
   <source>Hardware</source>
   <translation>Hardware</translation>
  </message>
  <message>
   <source>There is no model yet. Models has some to get.</source>
   <translation>Noch gibt es kein Modell. Unter „Modelle“ sind welche zu holen.</translation>
  </message>
  <message>
   <source>the address</source>
   <translation>die Adresse</translation>
  </message>
  <message>
   <source>What happened</source>
   <translation>Was geschehen ist</translation>
  </message>
  <message>
   <source>There is no address while Moat is stopped.</source>
   <translation>Solange Moat angehalten ist, gibt es keine Adresse.</translation>
  </message>
  <message>
   <source>Try again</source>
   <translation>Noch einmal</translation>
  </message>
  <message>
   <source>Open the log</source>
   <translation>Protokoll öffnen</translation>
  </message>
  <message>
   <source>Address of the server</source>
   <translation>Adresse des Servers</translation>
  </message>
  <message>
   <source>Address</source>
   <translation>Adresse</translation>
  </message>
  <message>
   <source>Home</source>
   <translation>Start</translation>
  </message>
  <message>
   <source>Pause</source>
   <translation>Anhalten</translation>
  </message>
  <message>
   <source>the shown or selected lines</source>
   <translation>die gezeigten oder gewählten Zeilen</translation>
  </message>
  <message>
   <source>Clear</source>
   <translation>Leeren</translation>
  </message>
  <message>
   <source>1 line</source>
   <translation>1 Zeile</translation>
  </message>
  <message>
   <source>{count} lines</source>
   <translation>{count} Zeilen</translation>
  </message>
  <message>
   <source>Least level shown</source>
   <translation>Niedrigste gezeigte Stufe</translation>
  </message>
  <message>
   <source>Filter by text</source>
   <translation>Nach Text filtern</translation>
  </message>
  <message>
   <source>Copy</source>
   <translation>Kopieren</translation>
  </message>
  <message>
   <source>Clear the list</source>
   <translation>Liste leeren</translation>
  </message>
  <message>
   <source>Resume</source>
   <translation>Fortsetzen</translation>
  </message>
  <message>
   <source>{count} new</source>
   <translation>{count} neue</translation>
  </message>
  <message>
   <source>Paused</source>
   <translation>Angehalten</translation>
  </message>
  <message>
   <source>Logs</source>
   <translation>Protokoll</translation>
  </message>
  <message>
   <source>Downloads</source>
   <translation>Downloads</translation>
  </message>
  <message>
   <source>{name} was deleted; {size} are free again.</source>
   <translation>{name} wurde gelöscht; {size} sind wieder frei.</translation>
  </message>
  <message>
   <source>{name} was taken off the list; its file stays where it is.</source>
   <translation>{name} steht nicht mehr in der Liste; die Datei bleibt, wo sie ist.</translation>
  </message>
  <message>
   <source>Add a GGUF file</source>
   <translation>GGUF-Datei hinzufügen</translation>
  </message>
  <message>
   <source>Models (*.gguf)</source>
   <translation>Modelle (*.gguf)</translation>
  </message>
  <message>
   <source>On this computer</source>
   <translation>Auf diesem Computer</translation>
  </message>
  <message>
   <source>Discover</source>
   <translation>Entdecken</translation>
  </message>
  <message>
   <source>Models</source>
   <translation>Modelle</translation>
  </message>
  <message>
   <source>Reading the files of {repo}…</source>
   <translation>Die Dateien von {repo} werden gelesen…</translation>
  </message>
  <message>
   <source>Add a plugin folder</source>
   <translation>Plugin-Ordner hinzufügen</translation>
  </message>
  <message>
   <source>Add a zip file</source>
   <translation>Zip-Datei hinzufügen</translation>
  </message>
  <message>
   <source>No plugin is here yet. A plugin is a folder with a manifest.</source>
   <translation>Noch kein Plugin. Ein Plugin ist ein Ordner mit einem Manifest.</translation>
  </message>
  <message>
   <source>Resume plugins</source>
   <translation>Plugins fortsetzen</translation>
  </message>
  <message>
   <source>Plugins are paused: none answers or is called.</source>
   <translation>Plugins sind angehalten: Keines antwortet oder wird aufgerufen.</translation>
  </message>
  <message>
   <source>Plugins</source>
   <translation>Plugins</translation>
  </message>
  <message>
   <source>No setting matches.</source>
   <translation>Keine Einstellung passt.</translation>
  </message>
  <message>
   <source>Export settings</source>
   <translation>Einstellungen exportieren</translation>
  </message>
  <message>
   <source>Import settings</source>
   <translation>Einstellungen importieren</translation>
  </message>
  <message>
   <source>Search settings</source>
   <translation>Einstellungen durchsuchen</translation>
  </message>
  <message>
   <source>The settings could not be exported: {why}.</source>
   <translation>Die Einstellungen konnten nicht exportiert werden: {why}.</translation>
  </message>
  <message>
   <source>This file holds no settings of Moat.</source>
   <translation>Diese Datei enthält keine Einstellungen von Moat.</translation>
  </message>
  <message>
   <source>Settings</source>
   <translation>Einstellungen</translation>
  </message>
  <message>
   <source>Language models on this computer, for the programs you work with.</source>
   <translation>Sprachmodelle auf diesem Computer, für die Programme, mit denen Sie arbeiten.</translation>
  </message>
  <message>
   <source>Looking at this machine…</source>
   <translation>Dieser Rechner wird angesehen…</translation>
  </message>
  <message>
   <source>Begin at once with the small starter model</source>
   <translation>Sofort mit dem kleinen Startmodell beginnen</translation>
  </message>
  <message>
   <source>Start Moat when I log in</source>
   <translation>Moat bei der Anmeldung starten</translation>
  </message>
  <message>
   <source>I have models elsewhere</source>
   <translation>Ich habe Modelle anderswo</translation>
  </message>
  <message>
   <source>Begin</source>
   <translation>Beginnen</translation>
  </message>
  <message>
   <source>Download {name} ({size}), the best for this machine</source>
   <translation>{name} laden ({size}), das beste für diesen Rechner</translation>
  </message>
  <message>
   <source>{total} of memory, {free} free, {cores} processor cores.</source>
   <translation>{total} Speicher, {free} frei, {cores} Prozessorkerne.</translation>
  </message>
  <message>
   <source>A folder with models</source>
   <translation>Ein Ordner mit Modellen</translation>
  </message>
  <message>
   <source>This machine</source>
   <translation>Dieser Rechner</translation>
  </message>
  <message>
   <source>Which model should answer?</source>
   <translation>Welches Modell soll antworten?</translation>
  </message>
  <message>
   <source>Welcome to Moat</source>
   <translation>Willkommen bei Moat</translation>
  </message>
  <message>
   <source>Where models live</source>
   <translation>Wo die Modelle liegen</translation>
  </message>
  <message>
   <source>Pages at {origin} may not connect. Allow this origin below.</source>
   <translation>Seiten von {origin} dürfen sich nicht verbinden. Erlauben Sie diese Herkunft.</translation>
  </message>
  <message>
   <source>{method} {path} was answered in {ms} ms.</source>
   <translation>{method} {path} wurde in {ms} ms beantwortet.</translation>
  </message>
  <message>
   <source>The access key is missing or wrong.</source>
   <translation>Der Zugangsschlüssel fehlt oder ist falsch.</translation>
  </message>
  <message>
   <source>{path} answered something this client cannot read.</source>
   <translation>{path} antwortete etwas, das dieses Programm nicht lesen kann.</translation>
  </message>
  <message>
   <source>the server answered with status {status}.</source>
   <translation>der Server antwortete mit Status {status}.</translation>
  </message>
  <message>
   <source>Nothing answered at {address}. Is Moat started?</source>
   <translation>Unter {address} antwortet niemand. Ist Moat gestartet?</translation>
  </message>
  <message>
   <source>The answer does not let {origin} read it.</source>
   <translation>Die Antwort lässt sich von {origin} nicht lesen.</translation>
  </message>
  <message>
   <source>The language changes when Moat is started again.</source>
   <translation>Die Sprache wechselt beim nächsten Start von Moat.</translation>
  </message>
  <message>
   <source>Stopped</source>
   <translation>Angehalten</translation>
  </message>
  <message>
   <source>Loading</source>
   <translation>Lädt</translation>
  </message>
  <message>
   <source>Ready</source>
   <translation>Bereit</translation>
  </message>
  <message>
   <source>Answering</source>
   <translation>Antwortet</translation>
  </message>
  <message>
   <source>Needs attention</source>
   <translation>Braucht Aufmerksamkeit</translation>
  </message>
  <message>
   <source>Try to start it again. If it fails again, the log says more.</source>
   <translation>Starten Sie es noch einmal. Schlägt es wieder fehl, sagt das Protokoll mehr.</translation>
  </message>
  <message>
   <source>Restart it; answers that are being written are lost. It may also wake up by itself.</source>
   <translation>Starten Sie es neu; Antworten, die gerade entstehen, gehen verloren. Es kann auch von selbst wieder aufwachen.</translation>
  </message>
  <message>
   <source>Nothing is served. Start Moat to let programs on this computer connect.</source>
   <translation>Nichts wird bedient. Starten Sie Moat, damit Programme sich verbinden können.</translation>
  </message>
  <message>
   <source>Waiting for its turn</source>
   <translation>Wartet, bis es an der Reihe ist</translation>
  </message>
  <message>
   <source>Reading the prompt</source>
   <translation>Liest die Frage</translation>
  </message>
  <message>
   <source>{percent} read. Requests wait until it is ready.</source>
   <translation>{percent} gelesen. Anfragen warten, bis es bereit ist.</translation>
  </message>
  <message>
   <source>Pick another model below, or close other programs and try again.</source>
   <translation>Wählen Sie unten ein anderes Modell, oder schließen Sie andere Programme.</translation>
  </message>
  <message>
   <source>No model is loaded. Pick one below; a request loads it too.</source>
   <translation>Kein Modell ist geladen. Wählen Sie unten eines; eine Anfrage lädt es auch.</translation>
  </message>
  <message>
   <source>Moat cannot serve</source>
   <translation>Moat kann nicht bedienen</translation>
  </message>
  <message>
   <source>Moat does not respond</source>
   <translation>Moat reagiert nicht</translation>
  </message>
  <message>
   <source>Moat is stopped</source>
   <translation>Moat ist angehalten</translation>
  </message>
  <message>
   <source>Moat is starting</source>
   <translation>Moat startet</translation>
  </message>
  <message>
   <source>This takes a second or two.</source>
   <translation>Das dauert ein, zwei Sekunden.</translation>
  </message>
  <message>
   <source>Moat is ready</source>
   <translation>Moat ist bereit</translation>
  </message>
  <message>
   <source>Answering 1 request</source>
   <translation>Beantwortet 1 Anfrage</translation>
  </message>
  <message>
   <source>{tokens} tokens of context</source>
   <translation>{tokens} Token Kontext</translation>
  </message>
  <message>
   <source>{done} of {total} tokens</source>
   <translation>{done} von {total} Token</translation>
  </message>
  <message>
   <source>Reading the prompt: {done}</source>
   <translation>Liest die Frage: {done}</translation>
  </message>
  <message>
   <source>Writing: {count} tokens so far</source>
   <translation>Schreibt: bisher {count} Token</translation>
  </message>
  <message>
   <source>Loading {name}</source>
   <translation>{name} wird geladen</translation>
  </message>
  <message>
   <source>{name} could not be loaded</source>
   <translation>{name} konnte nicht geladen werden</translation>
  </message>
  <message>
   <source>Answering {count} requests</source>
   <translation>Beantwortet {count} Anfragen</translation>
  </message>
  <message>
   <source>{name} is at work.</source>
   <translation>{name} arbeitet.</translation>
  </message>
  <message>
   <source>{name} answers on this computer.</source>
   <translation>{name} antwortet auf diesem Computer.</translation>
  </message>
  <message>
   <source>{plugin} needs a little more</source>
   <translation>{plugin} braucht noch etwas</translation>
  </message>
  <message>
   <source>Model</source>
   <translation>Modell</translation>
  </message>
  <message>
   <source>Open Moat</source>
   <translation>Moat öffnen</translation>
  </message>
  <message>
   <source>Quit Moat</source>
   <translation>Moat beenden</translation>
  </message>
  <message>
   <source>A plugin asks for your permission</source>
   <translation>Ein Plugin bittet um Ihre Erlaubnis</translation>
  </message>
  <message>
   <source>Open Moat to fill in its form.</source>
   <translation>Öffnen Sie Moat, um das Formular auszufüllen.</translation>
  </message>
  <message>
   <source>Stop</source>
   <translation>Anhalten</translation>
  </message>
  <message>
   <source>Restart</source>
   <translation>Neu starten</translation>
  </message>
  <message>
   <source>Start</source>
   <translation>Starten</translation>
  </message>
  <message>
   <source>Unload</source>
   <translation>Entladen</translation>
  </message>
  <message>
   <source>Unnamed client</source>
   <translation>Unbenanntes Programm</translation>
  </message>
  <message>
   <source>Download finished</source>
   <translation>Download fertig</translation>
  </message>
  <message>
   <source>Copy address</source>
   <translation>Adresse kopieren</translation>
  </message>
  <message>
   <source>Running requests ({count})</source>
   <translation>Laufende Anfragen ({count})</translation>
  </message>
  <message>
   <source>Cancel {who}: {what}</source>
   <translation>{who} abbrechen: {what}</translation>
  </message>
  <message>
   <source>Pause plugins</source>
   <translation>Plugins anhalten</translation>
  </message>
  <message>
   <source>Download failed</source>
   <translation>Download fehlgeschlagen</translation>
  </message>
  <message>
   <source>That did not work</source>
   <translation>Das hat nicht geklappt</translation>
  </message>
  <message>
   <source>No model is installed</source>
   <translation>Kein Modell ist installiert</translation>
  </message>
  <message>
   <source>Look for a new version</source>
   <translation>Nach einer neuen Version sehen</translation>
  </message>
  <message>
   <source>Licences</source>
   <translation>Lizenzen</translation>
  </message>
  <message>
   <source>This is the newest version that was announced.</source>
   <translation>Das ist die neueste Version, die angekündigt wurde.</translation>
  </message>
  <message>
   <source>Text of the licence</source>
   <translation>Text der Lizenz</translation>
  </message>
  <message>
   <source>About Moat</source>
   <translation>Über Moat</translation>
  </message>
  <message>
   <source>Version {version}</source>
   <translation>Version {version}</translation>
  </message>
  <message>
   <source>Version {version} is there: {page}</source>
   <translation>Version {version} ist da: {page}</translation>
  </message>
  <message>
   <source>No requests at the moment.</source>
   <translation>Im Augenblick keine Anfragen.</translation>
  </message>
  <message>
   <source>Tokens per second in the last minutes</source>
   <translation>Token pro Sekunde in den letzten Minuten</translation>
  </message>
  <message>
   <source>Memory in the last minutes</source>
   <translation>Speicher in den letzten Minuten</translation>
  </message>
  <message>
   <source>tokens per second</source>
   <translation>Token pro Sekunde</translation>
  </message>
  <message>
   <source>running</source>
   <translation>laufen</translation>
  </message>
  <message>
   <source>waiting</source>
   <translation>warten</translation>
  </message>
  <message>
   <source>Cancel</source>
   <translation>Abbrechen</translation>
  </message>
  <message>
   <source>memory in use</source>
   <translation>Speicher benutzt</translation>
  </message>
  <message>
   <source>Cancel this request</source>
   <translation>Diese Anfrage abbrechen</translation>
  </message>
  <message>
   <source>Cancel the request of {who}</source>
   <translation>Die Anfrage von {who} abbrechen</translation>
  </message>
  <message>
   <source>Answer</source>
   <translation>Antwort</translation>
  </message>
  <message>
   <source>Choose</source>
   <translation>Auswählen</translation>
  </message>
  <message>
   <source>Yes</source>
   <translation>Ja</translation>
  </message>
  <message>
   <source>Choose a file</source>
   <translation>Datei wählen</translation>
  </message>
  <message>
   <source>One in a line</source>
   <translation>Eins pro Zeile</translation>
  </message>
  <message>
   <source>a whole number</source>
   <translation>eine ganze Zahl</translation>
  </message>
  <message>
   <source>a number</source>
   <translation>eine Zahl</translation>
  </message>
  <message>
   <source>Allow once</source>
   <translation>Einmal erlauben</translation>
  </message>
  <message>
   <source>Always allow</source>
   <translation>Immer erlauben</translation>
  </message>
  <message>
   <source>Deny</source>
   <translation>Ablehnen</translation>
  </message>
  <message>
   <source>What would be sent</source>
   <translation>Was gesendet würde</translation>
  </message>
  <message>
   <source>It only reads.</source>
   <translation>Es liest nur.</translation>
  </message>
  <message>
   <source>It changes something. Look at what would be sent before you allow it.</source>
   <translation>Es ändert etwas. Sehen Sie an, was gesendet würde, bevor Sie es erlauben.</translation>
  </message>
  <message>
   <source>It may do harm that cannot be undone.</source>
   <translation>Es kann Schaden anrichten, der sich nicht rückgängig machen lässt.</translation>
  </message>
  <message>
   <source>Allow once: {what}</source>
   <translation>Einmal erlauben: {what}</translation>
  </message>
  <message>
   <source>{plugin} asks: {what}</source>
   <translation>{plugin} fragt: {what}</translation>
  </message>
  <message>
   <source>Always allow: {what}</source>
   <translation>Immer erlauben: {what}</translation>
  </message>
  <message>
   <source>Deny: {what}</source>
   <translation>Ablehnen: {what}</translation>
  </message>
  <message>
   <source>Dismiss</source>
   <translation>Schließen</translation>
  </message>
  <message>
   <source>Search chats</source>
   <translation>Chats durchsuchen</translation>
  </message>
  <message>
   <source>Kept chats</source>
   <translation>Aufgehobene Chats</translation>
  </message>
  <message>
   <source>Delete</source>
   <translation>Löschen</translation>
  </message>
  <message>
   <source>No chat matches.</source>
   <translation>Kein Chat passt.</translation>
  </message>
  <message>
   <source>Chats are kept here, on this computer.</source>
   <translation>Chats werden hier aufgehoben, auf diesem Computer.</translation>
  </message>
  <message>
   <source>Delete the chosen chat</source>
   <translation>Gewählten Chat löschen</translation>
  </message>
  <message>
   <source>Automatic</source>
   <translation>Automatisch</translation>
  </message>
  <message>
   <source>Protocol</source>
   <translation>Schnittstelle</translation>
  </message>
  <message>
   <source>Show raw events</source>
   <translation>Rohe Ereignisse zeigen</translation>
  </message>
  <message>
   <source>System prompt</source>
   <translation>Systemanweisung</translation>
  </message>
  <message>
   <source>How it should behave</source>
   <translation>Wie es sich verhalten soll</translation>
  </message>
  <message>
   <source>Temperature</source>
   <translation>Temperatur</translation>
  </message>
  <message>
   <source>Longest answer</source>
   <translation>Längste Antwort</translation>
  </message>
  <message>
   <source>OpenBB's protocol carries no system prompt and no sampling.</source>
   <translation>Die Schnittstelle von OpenBB kennt keine Systemanweisung und keine Abtastung.</translation>
  </message>
  <message>
   <source>Test</source>
   <translation>Testen</translation>
  </message>
  <message>
   <source>Test again</source>
   <translation>Noch einmal testen</translation>
  </message>
  <message>
   <source>Testing…</source>
   <translation>Wird getestet …</translation>
  </message>
  <message>
   <source>Address for {name}</source>
   <translation>Adresse für {name}</translation>
  </message>
  <message>
   <source>the address for {name}</source>
   <translation>die Adresse für {name}</translation>
  </message>
  <message>
   <source>What to paste for {name}</source>
   <translation>Was für {name} einzusetzen ist</translation>
  </message>
  <message>
   <source>what to paste for {name}</source>
   <translation>was für {name} einzusetzen ist</translation>
  </message>
  <message>
   <source>Test {name}</source>
   <translation>{name} testen</translation>
  </message>
  <message>
   <source>Your message</source>
   <translation>Ihre Nachricht</translation>
  </message>
  <message>
   <source>Send</source>
   <translation>Senden</translation>
  </message>
  <message>
   <source>Stop the answer</source>
   <translation>Antwort anhalten</translation>
  </message>
  <message>
   <source>Copied</source>
   <translation>Kopiert</translation>
  </message>
  <message>
   <source>Copied {what}</source>
   <translation>Kopiert: {what}</translation>
  </message>
  <message>
   <source>Copy {what}</source>
   <translation>{what} kopieren</translation>
  </message>
  <message>
   <source>Download</source>
   <translation>Herunterladen</translation>
  </message>
  <message>
   <source>Show files</source>
   <translation>Dateien zeigen</translation>
  </message>
  <message>
   <source>Search Hugging Face</source>
   <translation>Hugging Face durchsuchen</translation>
  </message>
  <message>
   <source>Search</source>
   <translation>Suchen</translation>
  </message>
  <message>
   <source>Back</source>
   <translation>Zurück</translation>
  </message>
  <message>
   <source>For this machine</source>
   <translation>Für diesen Rechner</translation>
  </message>
  <message>
   <source>Good models of each size, judged for this computer.</source>
   <translation>Gute Modelle jeder Größe, für diesen Computer beurteilt.</translation>
  </message>
  <message>
   <source>Recommended here</source>
   <translation>Hier empfohlen</translation>
  </message>
  <message>
   <source>Download {name}</source>
   <translation>{name} herunterladen</translation>
  </message>
  <message>
   <source>Installed</source>
   <translation>Installiert</translation>
  </message>
  <message>
   <source>terms to accept</source>
   <translation>Bedingungen anzunehmen</translation>
  </message>
  <message>
   <source>Back to the list</source>
   <translation>Zurück zur Liste</translation>
  </message>
  <message>
   <source>No repository with GGUF files matches.</source>
   <translation>Kein Verzeichnis mit GGUF-Dateien passt.</translation>
  </message>
  <message>
   <source>Its terms must be accepted on {address} first.</source>
   <translation>Die Bedingungen müssen zuerst auf {address} angenommen werden.</translation>
  </message>
  <message>
   <source>Searching…</source>
   <translation>Suche…</translation>
  </message>
  <message>
   <source>{count} downloads</source>
   <translation>{count} Downloads</translation>
  </message>
  <message>
   <source>Found for “{text}”</source>
   <translation>Gefunden für „{text}“</translation>
  </message>
  <message>
   <source>{count} parts</source>
   <translation>{count} Teile</translation>
  </message>
  <message>
   <source>Show files of {name}</source>
   <translation>Dateien von {name} zeigen</translation>
  </message>
  <message>
   <source>When you connect from a web page and nothing appears here, the browser kept the request back.
Chrome, Edge (142 and later): the icon left of the address, then “Local network access”, then Allow; reload the page.
Firefox: allow it when it asks to reach devices on your local network.
Brave: the shield icon, then allow localhost for this site.
Safari does not let a secure page reach this computer; use another browser.</source>
   <translation>Wenn Sie sich von einer Webseite aus verbinden und hier nichts erscheint, hat der Browser die Anfrage zurückgehalten.
Chrome, Edge (ab 142): das Symbol links der Adresse, dann „Zugriff auf lokales Netzwerk“, dann Zulassen; Seite neu laden.
Firefox: erlauben Sie es, wenn er nach Geräten im lokalen Netzwerk fragt.
Brave: das Schild-Symbol, dann localhost für diese Seite erlauben.
Safari lässt sichere Seiten nicht zu diesem Computer; benutzen Sie einen anderen Browser.</translation>
  </message>
  <message>
   <source>Nothing arrives?</source>
   <translation>Es kommt nichts an?</translation>
  </message>
  <message>
   <source>No web page has asked for anything yet. Who comes or is turned away is shown here.</source>
   <translation>Noch keine Webseite hat etwas gefragt. Wer kommt oder abgewiesen wird, steht hier.</translation>
  </message>
  <message>
   <source>This page was turned away: its origin is not allowed.</source>
   <translation>Diese Seite wurde abgewiesen: ihre Herkunft ist nicht erlaubt.</translation>
  </message>
  <message>
   <source>The access key was missing or wrong.</source>
   <translation>Der Zugangsschlüssel fehlte oder war falsch.</translation>
  </message>
  <message>
   <source>It asked whether it may connect and was told yes; no request followed.</source>
   <translation>Sie fragte, ob sie sich verbinden darf, und durfte; es folgte keine Anfrage.</translation>
  </message>
  <message>
   <source>Connected.</source>
   <translation>Verbunden.</translation>
  </message>
  <message>
   <source>Allow</source>
   <translation>Erlauben</translation>
  </message>
  <message>
   <source>Copy the key</source>
   <translation>Schlüssel kopieren</translation>
  </message>
  <message>
   <source>At the door</source>
   <translation>An der Tür</translation>
  </message>
  <message>
   <source>Allow {origin}</source>
   <translation>{origin} erlauben</translation>
  </message>
  <message>
   <source>less than a minute left</source>
   <translation>weniger als eine Minute übrig</translation>
  </message>
  <message>
   <source>Remove {name} from this list</source>
   <translation>{name} aus dieser Liste nehmen</translation>
  </message>
  <message>
   <source>Cancel {name}</source>
   <translation>{name} abbrechen</translation>
  </message>
  <message>
   <source>Nothing is being downloaded.</source>
   <translation>Nichts wird heruntergeladen.</translation>
  </message>
  <message>
   <source>{done} of {total}</source>
   <translation>{done} von {total}</translation>
  </message>
  <message>
   <source>Checking every byte against the hub's fingerprint</source>
   <translation>Jedes Byte wird mit dem Fingerabdruck des Hubs verglichen</translation>
  </message>
  <message>
   <source>{hours} h {minutes} min left</source>
   <translation>noch {hours} h {minutes} min</translation>
  </message>
  <message>
   <source>Waiting</source>
   <translation>Wartet</translation>
  </message>
  <message>
   <source>Finished and checked</source>
   <translation>Fertig und geprüft</translation>
  </message>
  <message>
   <source>It failed.</source>
   <translation>Es ist fehlgeschlagen.</translation>
  </message>
  <message>
   <source>{minutes} min left</source>
   <translation>noch {minutes} min</translation>
  </message>
  <message>
   <source>{name}: {percent} downloaded</source>
   <translation>{name}: {percent} geladen</translation>
  </message>
  <message>
   <source>Pause {name}</source>
   <translation>{name} anhalten</translation>
  </message>
  <message>
   <source>Resume {name}</source>
   <translation>{name} fortsetzen</translation>
  </message>
  <message>
   <source>Try {name} again</source>
   <translation>{name} noch einmal versuchen</translation>
  </message>
  <message>
   <source>Explain in two sentences what a moat is in investing.</source>
   <translation>Erkläre in zwei Sätzen, was beim Investieren ein Burggraben ist.</translation>
  </message>
  <message>
   <source>Write a short table with three kinds of bonds and their risks.</source>
   <translation>Schreibe eine kurze Tabelle mit drei Arten von Anleihen und ihren Risiken.</translation>
  </message>
  <message>
   <source>Write a Python function that computes a moving average.</source>
   <translation>Schreibe eine Python-Funktion, die einen gleitenden Durchschnitt berechnet.</translation>
  </message>
  <message>
   <source>Moat is not serving</source>
   <translation>Moat bedient nicht</translation>
  </message>
  <message>
   <source>One moment.</source>
   <translation>Einen Augenblick.</translation>
  </message>
  <message>
   <source>Everything you write stays on this computer.</source>
   <translation>Alles, was Sie schreiben, bleibt auf diesem Computer.</translation>
  </message>
  <message>
   <source>Start it to chat with a model.</source>
   <translation>Starten Sie es, um mit einem Modell zu sprechen.</translation>
  </message>
  <message>
   <source>No model is loaded</source>
   <translation>Kein Modell ist geladen</translation>
  </message>
  <message>
   <source>Your first message loads it, or pick one now.</source>
   <translation>Ihre erste Nachricht lädt es, oder wählen Sie jetzt eines.</translation>
  </message>
  <message>
   <source>Pick a model</source>
   <translation>Modell wählen</translation>
  </message>
  <message>
   <source>Pick another model</source>
   <translation>Anderes Modell wählen</translation>
  </message>
  <message>
   <source>A question to ask</source>
   <translation>Eine Frage</translation>
  </message>
  <message>
   <source>{percent}. You can write already.</source>
   <translation>{percent}. Sie können schon schreiben.</translation>
  </message>
  <message>
   <source>Ask {name}</source>
   <translation>{name} fragen</translation>
  </message>
  <message>
   <source>Runs well</source>
   <translation>Läuft gut</translation>
  </message>
  <message>
   <source>Tight</source>
   <translation>Knapp</translation>
  </message>
  <message>
   <source>Does not fit</source>
   <translation>Passt nicht</translation>
  </message>
  <message>
   <source>Not known yet</source>
   <translation>Noch nicht bekannt</translation>
  </message>
  <message>
   <source>{needed} of {free} free</source>
   <translation>{needed} von {free} freien</translation>
  </message>
  <message>
   <source>On</source>
   <translation>An</translation>
  </message>
  <message>
   <source>Reset “{name}”</source>
   <translation>„{name}“ zurücksetzen</translation>
  </message>
  <message>
   <source>Continue</source>
   <translation>Weiter</translation>
  </message>
  <message>
   <source>Do not answer</source>
   <translation>Nicht antworten</translation>
  </message>
  <message>
   <source>{name} must be {what}.</source>
   <translation>{name} muss {what} sein.</translation>
  </message>
  <message>
   <source>Loading the model</source>
   <translation>Das Modell wird geladen</translation>
  </message>
  <message>
   <source>Starting</source>
   <translation>Startet</translation>
  </message>
  <message>
   <source>{do} serving</source>
   <translation>Bedienen: {do}</translation>
  </message>
  <message>
   <source>Accept the terms on the model's page, then paste a token with the right to read.</source>
   <translation>Nehmen Sie die Bedingungen auf der Seite des Modells an und fügen Sie dann ein Token mit Leserecht ein.</translation>
  </message>
  <message>
   <source>Token of Hugging Face</source>
   <translation>Token von Hugging Face</translation>
  </message>
  <message>
   <source>Save</source>
   <translation>Speichern</translation>
  </message>
  <message>
   <source>Forget</source>
   <translation>Vergessen</translation>
  </message>
  <message>
   <source>Save the token</source>
   <translation>Token speichern</translation>
  </message>
  <message>
   <source>Forget the token</source>
   <translation>Token vergessen</translation>
  </message>
  <message>
   <source>Models with terms</source>
   <translation>Modelle mit Bedingungen</translation>
  </message>
  <message>
   <source>The token is kept with your secrets.</source>
   <translation>Das Token liegt bei Ihren Geheimnissen.</translation>
  </message>
  <message>
   <source>The token is forgotten.</source>
   <translation>Das Token ist vergessen.</translation>
  </message>
  <message>
   <source>Load</source>
   <translation>Laden</translation>
  </message>
  <message>
   <source>Details</source>
   <translation>Einzelheiten</translation>
  </message>
  <message>
   <source>Keep</source>
   <translation>Behalten</translation>
  </message>
  <message>
   <source>No model is on this computer yet. Discover one, or add a file you have.</source>
   <translation>Noch kein Modell auf diesem Computer. Entdecken Sie eines, oder fügen Sie eine Datei hinzu.</translation>
  </message>
  <message>
   <source>Discover models</source>
   <translation>Modelle entdecken</translation>
  </message>
  <message>
   <source>Use them</source>
   <translation>Benutzen</translation>
  </message>
  <message>
   <source>Answers now</source>
   <translation>Antwortet jetzt</translation>
  </message>
  <message>
   <source>This frees {size} on the disk.</source>
   <translation>Das macht {size} auf der Platte frei.</translation>
  </message>
  <message>
   <source>{count} models, {size}, in {path}</source>
   <translation>{count} Modelle, {size}, in {path}</translation>
  </message>
  <message>
   <source>Found from other programs</source>
   <translation>Bei anderen Programmen gefunden</translation>
  </message>
  <message>
   <source>Load {name}</source>
   <translation>{name} laden</translation>
  </message>
  <message>
   <source>Details of {name}</source>
   <translation>Einzelheiten zu {name}</translation>
  </message>
  <message>
   <source>Delete {name}</source>
   <translation>{name} löschen</translation>
  </message>
  <message>
   <source>Really delete {name}</source>
   <translation>{name} wirklich löschen</translation>
  </message>
  <message>
   <source>Keep {name}</source>
   <translation>{name} behalten</translation>
  </message>
  <message>
   <source>Use the models of {name}</source>
   <translation>Die Modelle von {name} benutzen</translation>
  </message>
  <message>
   <source>Context</source>
   <translation>Kontext</translation>
  </message>
  <message>
   <source>How much it can read and write at once.</source>
   <translation>Wie viel es auf einmal lesen und schreiben kann.</translation>
  </message>
  <message>
   <source>Layers on the graphics card</source>
   <translation>Schichten auf der Grafikkarte</translation>
  </message>
  <message>
   <source>Split across the graphics cards</source>
   <translation>Verteilung auf die Grafikkarten</translation>
  </message>
  <message>
   <source>Precision of the context</source>
   <translation>Genauigkeit des Kontexts</translation>
  </message>
  <message>
   <source>Answers at the same time</source>
   <translation>Gleichzeitige Antworten</translation>
  </message>
  <message>
   <source>Processor threads</source>
   <translation>Prozessor-Threads</translation>
  </message>
  <message>
   <source>Tokens read in one step</source>
   <translation>Token je Leseschritt</translation>
  </message>
  <message>
   <source>More reads long prompts faster on a graphics card and takes more memory.</source>
   <translation>Mehr liest lange Eingaben auf einer Grafikkarte schneller und braucht mehr Speicher.</translation>
  </message>
  <message>
   <source>Flash attention</source>
   <translation>Flash Attention</translation>
  </message>
  <message>
   <source>A quarter of the memory</source>
   <translation>Ein Viertel des Speichers</translation>
  </message>
  <message>
   <source>{tokens} tokens</source>
   <translation>{tokens} Token</translation>
  </message>
  <message>
   <source>Full</source>
   <translation>Voll</translation>
  </message>
  <message>
   <source>Half the memory</source>
   <translation>Halber Speicher</translation>
  </message>
  <message>
   <source>Off</source>
   <translation>Aus</translation>
  </message>
  <message>
   <source>Log lines</source>
   <translation>Protokollzeilen</translation>
  </message>
  <message>
   <source>Support for graphics cards added: {names}</source>
   <translation>Hinzugefügte Unterstützung für Grafikkarten: {names}</translation>
  </message>
  <message>
   <source>No graphics card that models could use was found: the processor does the work.</source>
   <translation>Keine nutzbare Grafikkarte gefunden: der Prozessor macht die Arbeit.</translation>
  </message>
  <message>
   <source>Look again</source>
   <translation>Noch einmal ansehen</translation>
  </message>
  <message>
   <source>memory</source>
   <translation>Speicher</translation>
  </message>
  <message>
   <source>free just now</source>
   <translation>gerade frei</translation>
  </message>
  <message>
   <source>processor cores</source>
   <translation>Prozessorkerne</translation>
  </message>
  <message>
   <source>This build of the engine cannot use it.</source>
   <translation>Dieser Bau der Maschine kann sie nicht benutzen.</translation>
  </message>
  <message>
   <source>The graphics card is not used</source>
   <translation>Die Grafikkarte wird nicht benutzt</translation>
  </message>
  <message>
   <source>{name} ({backend}): {free} of {total} free</source>
   <translation>{name} ({backend}): {free} von {total} frei</translation>
  </message>
  <message>
   <source>Look at this machine again</source>
   <translation>Diesen Rechner noch einmal ansehen</translation>
  </message>
  <message>
   <source>this code</source>
   <translation>diesen Code</translation>
  </message>
  <message>
   <source>Weights</source>
   <translation>Gewichte</translation>
  </message>
  <message>
   <source>Working space</source>
   <translation>Arbeitsraum</translation>
  </message>
  <message>
   <source>On the graphics card</source>
   <translation>Auf der Grafikkarte</translation>
  </message>
  <message>
   <source>1 token</source>
   <translation>1 Token</translation>
  </message>
  <message>
   <source>{count} tokens</source>
   <translation>{count} Token</translation>
  </message>
  <message>
   <source>Show the reasoning</source>
   <translation>Überlegung zeigen</translation>
  </message>
  <message>
   <source>Waiting for the first word…</source>
   <translation>Wartet auf das erste Wort…</translation>
  </message>
  <message>
   <source>the answer</source>
   <translation>die Antwort</translation>
  </message>
  <message>
   <source>Edit and ask again</source>
   <translation>Ändern und noch einmal fragen</translation>
  </message>
  <message>
   <source>Answer again</source>
   <translation>Noch einmal antworten</translation>
  </message>
  <message>
   <source>No answer</source>
   <translation>Keine Antwort</translation>
  </message>
  <message>
   <source>The answer broke off</source>
   <translation>Die Antwort brach ab</translation>
  </message>
  <message>
   <source>You: {text}</source>
   <translation>Sie: {text}</translation>
  </message>
  <message>
   <source>first after {time} s</source>
   <translation>erstes nach {time} s</translation>
  </message>
  <message>
   <source>cut at the length limit</source>
   <translation>an der Längengrenze abgeschnitten</translation>
  </message>
  <message>
   <source>The model gave an empty answer.</source>
   <translation>Das Modell gab eine leere Antwort.</translation>
  </message>
  <message>
   <source>{speed} tokens/s</source>
   <translation>{speed} Token/s</translation>
  </message>
  <message>
   <source>Show the chat template</source>
   <translation>Chat-Vorlage zeigen</translation>
  </message>
  <message>
   <source>Chat template</source>
   <translation>Chat-Vorlage</translation>
  </message>
  <message>
   <source>Show what differs</source>
   <translation>Unterschiede zeigen</translation>
  </message>
  <message>
   <source>Licence: {name}</source>
   <translation>Lizenz: {name}</translation>
  </message>
  <message>
   <source>Tool calls: {style}</source>
   <translation>Werkzeugaufrufe: {style}</translation>
  </message>
  <message>
   <source>The file is damaged: {why}.</source>
   <translation>Die Datei ist beschädigt: {why}.</translation>
  </message>
  <message>
   <source>not said</source>
   <translation>nicht angegeben</translation>
  </message>
  <message>
   <source>not in its template</source>
   <translation>nicht in seiner Vorlage</translation>
  </message>
  <message>
   <source>Sees images: {file}</source>
   <translation>Sieht Bilder: {file}</translation>
  </message>
  <message>
   <source>Model that answers</source>
   <translation>Antwortendes Modell</translation>
  </message>
  <message>
   <source>Unload the model and free its memory</source>
   <translation>Das Modell entladen und seinen Speicher freigeben</translation>
  </message>
  <message>
   <source>None</source>
   <translation>Keines</translation>
  </message>
  <message>
   <source>It reaches nothing outside Moat.</source>
   <translation>Es erreicht nichts außerhalb von Moat.</translation>
  </message>
  <message>
   <source>Enable</source>
   <translation>Einschalten</translation>
  </message>
  <message>
   <source>Sign in</source>
   <translation>Anmelden</translation>
  </message>
  <message>
   <source>part of Moat</source>
   <translation>Teil von Moat</translation>
  </message>
  <message>
   <source>added by you</source>
   <translation>von Ihnen hinzugefügt</translation>
  </message>
  <message>
   <source>Accept and enable</source>
   <translation>Annehmen und einschalten</translation>
  </message>
  <message>
   <source>What it can do</source>
   <translation>Was es kann</translation>
  </message>
  <message>
   <source>What it answers</source>
   <translation>Was es beantwortet</translation>
  </message>
  <message>
   <source>What it needs</source>
   <translation>Was es braucht</translation>
  </message>
  <message>
   <source>Try it</source>
   <translation>Ausprobieren</translation>
  </message>
  <message>
   <source>Sign out</source>
   <translation>Abmelden</translation>
  </message>
  <message>
   <source>Signing in…</source>
   <translation>Anmeldung läuft…</translation>
  </message>
  <message>
   <source>It runs code of its own, in a process apart.</source>
   <translation>Es führt eigenen Code aus, in einem eigenen Prozess.</translation>
  </message>
  <message>
   <source>waits for your review</source>
   <translation>wartet auf Ihre Durchsicht</translation>
  </message>
  <message>
   <source>enabled</source>
   <translation>eingeschaltet</translation>
  </message>
  <message>
   <source>disabled</source>
   <translation>ausgeschaltet</translation>
  </message>
  <message>
   <source>works, with warnings</source>
   <translation>arbeitet, mit Warnungen</translation>
  </message>
  <message>
   <source>partly broken</source>
   <translation>teilweise kaputt</translation>
  </message>
  <message>
   <source>broken</source>
   <translation>kaputt</translation>
  </message>
  <message>
   <source>Ask by risk</source>
   <translation>Nach Risiko fragen</translation>
  </message>
  <message>
   <source>Never</source>
   <translation>Niemals</translation>
  </message>
  <message>
   <source>Disable</source>
   <translation>Ausschalten</translation>
  </message>
  <message>
   <source>Remove</source>
   <translation>Entfernen</translation>
  </message>
  <message>
   <source>Not set yet</source>
   <translation>Noch nicht gesetzt</translation>
  </message>
  <message>
   <source>Kept in the keychain</source>
   <translation>Im Schlüsselbund aufgehoben</translation>
  </message>
  <message>
   <source>What {name} may do</source>
   <translation>Was {name} darf</translation>
  </message>
  <message>
   <source>It connects to: {hosts}.</source>
   <translation>Es verbindet sich mit: {hosts}.</translation>
  </message>
  <message>
   <source>It starts: {commands}.</source>
   <translation>Es startet: {commands}.</translation>
  </message>
  <message>
   <source>It asks for: {secrets}.</source>
   <translation>Es verlangt: {secrets}.</translation>
  </message>
  <message>
   <source>Back to version {old}</source>
   <translation>Zurück zu Version {old}</translation>
  </message>
  <message>
   <source>Remove {name}</source>
   <translation>{name} entfernen</translation>
  </message>
  <message>
   <source>Show its log</source>
   <translation>Protokoll zeigen</translation>
  </message>
  <message>
   <source>the log</source>
   <translation>das Protokoll</translation>
  </message>
  <message>
   <source>Read it again</source>
   <translation>Neu lesen</translation>
  </message>
  <message>
   <source>Nothing has been written yet.</source>
   <translation>Noch wurde nichts geschrieben.</translation>
  </message>
  <message>
   <source>Log of {name}</source>
   <translation>Protokoll von {name}</translation>
  </message>
  <message>
   <source>Show the log of {name}</source>
   <translation>Protokoll von {name} zeigen</translation>
  </message>
  <message>
   <source>It may also change and delete (PUT, PATCH, DELETE)</source>
   <translation>Es darf auch ändern und löschen (PUT, PATCH, DELETE)</translation>
  </message>
  <message>
   <source>Choose a folder</source>
   <translation>Ordner wählen</translation>
  </message>
  <message>
   <source>Apply</source>
   <translation>Übernehmen</translation>
  </message>
  <message>
   <source>Flow to try</source>
   <translation>Ablauf zum Ausprobieren</translation>
  </message>
  <message>
   <source>A question to try it with</source>
   <translation>Eine Frage zum Ausprobieren</translation>
  </message>
  <message>
   <source>What came of it</source>
   <translation>Was dabei herauskam</translation>
  </message>
  <message>
   <source>the report</source>
   <translation>den Bericht</translation>
  </message>
  <message>
   <source>Running…</source>
   <translation>Läuft…</translation>
  </message>
  <message>
   <source>Dry run</source>
   <translation>Trockenlauf</translation>
  </message>
  <message>
   <source>Mock</source>
   <translation>Nachgestellt</translation>
  </message>
  <message>
   <source>Run</source>
   <translation>Ausführen</translation>
  </message>
  <message>
   <source>Done.</source>
   <translation>Fertig.</translation>
  </message>
  <message>
   <source>Dry run: shows the request, sends nothing</source>
   <translation>Trockenlauf: zeigt die Anfrage, sendet nichts</translation>
  </message>
  <message>
   <source>Mock: goes on with made-up answers</source>
   <translation>Nachgestellt: geht mit erfundenen Antworten weiter</translation>
  </message>
  <message>
   <source>Run it for real</source>
   <translation>Wirklich ausführen</translation>
  </message>
  <message>
   <source>Raw events</source>
   <translation>Rohe Ereignisse</translation>
  </message>
  <message>
   <source>The events of the next answer appear here.</source>
   <translation>Die Ereignisse der nächsten Antwort erscheinen hier.</translation>
  </message>
  <message>
   <source>the raw events</source>
   <translation>die rohen Ereignisse</translation>
  </message>
  <message>
   <source>Time</source>
   <translation>Zeit</translation>
  </message>
  <message>
   <source>Client</source>
   <translation>Programm</translation>
  </message>
  <message>
   <source>Route</source>
   <translation>Weg</translation>
  </message>
  <message>
   <source>Tokens</source>
   <translation>Token</translation>
  </message>
  <message>
   <source>Took</source>
   <translation>Dauer</translation>
  </message>
  <message>
   <source>Ended</source>
   <translation>Ende</translation>
  </message>
  <message>
   <source>Host</source>
   <translation>Host</translation>
  </message>
  <message>
   <source>Why</source>
   <translation>Wozu</translation>
  </message>
  <message>
   <source>Received</source>
   <translation>Empfangen</translation>
  </message>
  <message>
   <source>Answered</source>
   <translation>Beantwortet</translation>
  </message>
  <message>
   <source>Cut at the limit</source>
   <translation>An der Grenze abgeschnitten</translation>
  </message>
  <message>
   <source>Asked for a tool</source>
   <translation>Verlangte ein Werkzeug</translation>
  </message>
  <message>
   <source>Client left</source>
   <translation>Programm ging</translation>
  </message>
  <message>
   <source>Cancelled</source>
   <translation>Abgebrochen</translation>
  </message>
  <message>
   <source>Moat stopped</source>
   <translation>Moat hielt an</translation>
  </message>
  <message>
   <source>unnamed</source>
   <translation>unbenannt</translation>
  </message>
  <message>
   <source>Safari lets a page reach this machine by HTTPS only. The certificate is made here, holds for localhost alone, and is renewed by itself.</source>
   <translation>Safari lässt Seiten diesen Rechner nur über HTTPS erreichen. Das Zertifikat wird hier erzeugt, gilt nur für localhost und erneuert sich von selbst.</translation>
  </message>
  <message>
   <source>Trust it once, in a terminal. In Firefox import the file as an authority:</source>
   <translation>Vertrauen Sie ihm einmal, in einem Terminal. In Firefox importieren Sie die Datei als Zertifizierungsstelle:</translation>
  </message>
  <message>
   <source>Serve HTTPS too</source>
   <translation>Auch HTTPS anbieten</translation>
  </message>
  <message>
   <source>The address for HTTPS</source>
   <translation>Die Adresse für HTTPS</translation>
  </message>
  <message>
   <source>the address for HTTPS</source>
   <translation>die Adresse für HTTPS</translation>
  </message>
  <message>
   <source>The command that trusts the certificate</source>
   <translation>Der Befehl, der dem Zertifikat vertraut</translation>
  </message>
  <message>
   <source>the command</source>
   <translation>den Befehl</translation>
  </message>
  <message>
   <source>Conversation</source>
   <translation>Gespräch</translation>
  </message>
  <message>
   <source>This desktop shows no tray icons, so Moat lives in this window. Closing the window quits Moat.</source>
   <translation>Diese Oberfläche zeigt keine Symbole im Infobereich, darum lebt Moat in diesem Fenster. Es zu schließen beendet Moat.</translation>
  </message>
  <message>
   <source>Moat goes on in the tray. Quit it from the menu of its icon.</source>
   <translation>Moat läuft im Infobereich weiter. Beenden Sie es im Menü seines Symbols.</translation>
  </message>
  <message>
   <source>Give this address to OpenBB, an OpenAI client or CopilotKit.</source>
   <translation>Geben Sie diese Adresse OpenBB, einem OpenAI-Programm oder CopilotKit.</translation>
  </message>
  <message>
   <source>No model is on this computer yet. Put a GGUF file into the models folder.</source>
   <translation>Noch kein Modell auf diesem Computer. Legen Sie eine GGUF-Datei in den Modellordner.</translation>
  </message>
  <message>
   <source>Everything</source>
   <translation>Alles</translation>
  </message>
  <message>
   <source>Info and above</source>
   <translation>Info und höher</translation>
  </message>
  <message>
   <source>Warnings and errors</source>
   <translation>Warnungen und Fehler</translation>
  </message>
  <message>
   <source>Errors only</source>
   <translation>Nur Fehler</translation>
  </message>
  <message>
   <source>Server</source>
   <translation>Server</translation>
  </message>
  <message>
   <source>Port</source>
   <translation>Port</translation>
  </message>
  <message>
   <source>The next free one is used if taken.</source>
   <translation>Ist er belegt, wird der nächste freie benutzt.</translation>
  </message>
  <message>
   <source>Who may connect</source>
   <translation>Wer sich verbinden darf</translation>
  </message>
  <message>
   <source>'network' lets other machines connect and always requires the access key.</source>
   <translation>'network' lässt andere Rechner zu und verlangt immer den Zugangsschlüssel.</translation>
  </message>
  <message>
   <source>Loopback</source>
   <translation>Nur dieser Computer</translation>
  </message>
  <message>
   <source>Network</source>
   <translation>Netzwerk</translation>
  </message>
  <message>
   <source>Require an access key</source>
   <translation>Zugangsschlüssel verlangen</translation>
  </message>
  <message>
   <source>Clients must send it as a bearer token. Always on for 'network'.</source>
   <translation>Programme müssen ihn als Bearer-Token senden. Bei 'network' immer an.</translation>
  </message>
  <message>
   <source>Web pages that may connect</source>
   <translation>Webseiten, die sich verbinden dürfen</translation>
  </message>
  <message>
   <source>Exact origins, for example https://pro.openbb.co.</source>
   <translation>Genaue Herkünfte, zum Beispiel https://pro.openbb.co.</translation>
  </message>
  <message>
   <source>Extra host names</source>
   <translation>Weitere Hostnamen</translation>
  </message>
  <message>
   <source>Names besides localhost clients may use.</source>
   <translation>Namen außer localhost, die Programme benutzen dürfen.</translation>
  </message>
  <message>
   <source>Also serve HTTPS on this machine</source>
   <translation>Auf diesem Rechner auch HTTPS anbieten</translation>
  </message>
  <message>
   <source>For Safari. The Connect page shows the certificate to trust.</source>
   <translation>Für Safari. Die Seite „Verbinden“ zeigt das Zertifikat, dem zu vertrauen ist.</translation>
  </message>
  <message>
   <source>Port for HTTPS</source>
   <translation>Port für HTTPS</translation>
  </message>
  <message>
   <source>Largest request (MB)</source>
   <translation>Größte Anfrage (MB)</translation>
  </message>
  <message>
   <source>Requests at the same time</source>
   <translation>Gleichzeitige Anfragen</translation>
  </message>
  <message>
   <source>Serve as soon as Moat starts</source>
   <translation>Bedienen, sobald Moat startet</translation>
  </message>
  <message>
   <source>The model that answers. Empty: the starter.</source>
   <translation>Das Modell, das antwortet. Leer: das Startmodell.</translation>
  </message>
  <message>
   <source>Load the model when Moat starts</source>
   <translation>Beim Start von Moat das Modell laden</translation>
  </message>
  <message>
   <source>Context (tokens)</source>
   <translation>Kontext (Token)</translation>
  </message>
  <message>
   <source>0: what the model allows.</source>
   <translation>0: was das Modell erlaubt.</translation>
  </message>
  <message>
   <source>CPU threads</source>
   <translation>CPU-Threads</translation>
  </message>
  <message>
   <source>0: all cores.</source>
   <translation>0: alle Kerne.</translation>
  </message>
  <message>
   <source>Layers on the GPU</source>
   <translation>Schichten auf der GPU</translation>
  </message>
  <message>
   <source>-1: as many as fit.</source>
   <translation>-1: so viele wie passen.</translation>
  </message>
  <message>
   <source>Cache precision</source>
   <translation>Genauigkeit des Zwischenspeichers</translation>
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
   <translation>Prompt-Token auf einmal</translation>
  </message>
  <message>
   <source>More reads long prompts faster on a GPU and needs more memory.</source>
   <translation>Mehr liest lange Prompts auf einer GPU schneller und braucht mehr Speicher.</translation>
  </message>
  <message>
   <source>Share of each GPU</source>
   <translation>Anteil jeder GPU</translation>
  </message>
  <message>
   <source>For example 3 and 1: three quarters on the first. Empty: by free memory.</source>
   <translation>Zum Beispiel 3 und 1: drei Viertel auf der ersten. Leer: nach freiem Speicher.</translation>
  </message>
  <message>
   <source>Auto</source>
   <translation>Automatisch</translation>
  </message>
  <message>
   <source>Memory for earlier conversations (MB)</source>
   <translation>Speicher für frühere Gespräche (MB)</translation>
  </message>
  <message>
   <source>Disk for earlier conversations (MB)</source>
   <translation>Festplatte für frühere Gespräche (MB)</translation>
  </message>
  <message>
   <source>Long ones need not be read again after a restart. 0: nothing is written.</source>
   <translation>Lange müssen nach einem Neustart nicht neu gelesen werden. 0: nichts wird geschrieben.</translation>
  </message>
  <message>
   <source>Guess ahead from the prompt</source>
   <translation>Aus der Frage vorausraten</translation>
  </message>
  <message>
   <source>Faster on quotes and tables.</source>
   <translation>Schneller bei Zitaten und Tabellen.</translation>
  </message>
  <message>
   <source>Draft model</source>
   <translation>Entwurfsmodell</translation>
  </message>
  <message>
   <source>A small GGUF file of the same family that guesses ahead. Empty: none.</source>
   <translation>Eine kleine GGUF-Datei derselben Familie, die vorausrät. Leer: keine.</translation>
  </message>
  <message>
   <source>LoRA adapters (GGUF files)</source>
   <translation>LoRA-Adapter (GGUF-Dateien)</translation>
  </message>
  <message>
   <source>Tools are described as</source>
   <translation>Werkzeuge werden beschrieben als</translation>
  </message>
  <message>
   <source>For models without tool words of their own. TypeScript is shorter.</source>
   <translation>Für Modelle ohne eigene Worte für Werkzeuge. TypeScript ist kürzer.</translation>
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
   <translation>Anfragen, die warten dürfen</translation>
  </message>
  <message>
   <source>Unload when idle (minutes)</source>
   <translation>Entladen nach Leerlauf (Minuten)</translation>
  </message>
  <message>
   <source>0: never.</source>
   <translation>0: nie.</translation>
  </message>
  <message>
   <source>Memory for loaded models (MB)</source>
   <translation>Speicher für geladene Modelle (MB)</translation>
  </message>
  <message>
   <source>0: no limit.</source>
   <translation>0: keine Grenze.</translation>
  </message>
  <message>
   <source>More folders with models</source>
   <translation>Weitere Ordner mit Modellen</translation>
  </message>
  <message>
   <source>Models used where they lie</source>
   <translation>Modelle, die liegen bleiben</translation>
  </message>
  <message>
   <source>GGUF files, not copied.</source>
   <translation>GGUF-Dateien, nicht kopiert.</translation>
  </message>
  <message>
   <source>Folder with support for graphics cards</source>
   <translation>Ordner mit Unterstützung für Grafikkarten</translation>
  </message>
  <message>
   <source>Backends made for this engine. Empty: 'backends' beside the models.</source>
   <translation>Backends, die für diese Engine gemacht sind. Leer: „backends“ neben den Modellen.</translation>
  </message>
  <message>
   <source>Copilots</source>
   <translation>Copiloten</translation>
  </message>
  <message>
   <source>Longest answer to a page (tokens)</source>
   <translation>Längste Antwort an eine Seite (Token)</translation>
  </message>
  <message>
   <source>Agents elsewhere</source>
   <translation>Agenten anderswo</translation>
  </message>
  <message>
   <source>'copilotkit URL' for a CopilotKit endpoint, 'langgraph URL' for a server.</source>
   <translation>'copilotkit URL' für CopilotKit, 'langgraph URL' für einen Server.</translation>
  </message>
  <message>
   <source>Keep conversations with pages on disk</source>
   <translation>Gespräche mit Seiten auf der Platte aufheben</translation>
  </message>
  <message>
   <source>Off: forgotten when Moat ends; those kept before are deleted.</source>
   <translation>Aus: vergessen, wenn Moat endet; früher aufgehobene werden gelöscht.</translation>
  </message>
  <message>
   <source>Let connected programs use plugins</source>
   <translation>Verbundene Programme dürfen Plugins benutzen</translation>
  </message>
  <message>
   <source>Calls that change something still wait for your permission here.</source>
   <translation>Aufrufe, die etwas ändern, warten weiter hier auf Ihre Erlaubnis.</translation>
  </message>
  <message>
   <source>None answers or is called, and each stays as you enabled it.</source>
   <translation>Keines antwortet oder wird aufgerufen, und jedes bleibt, wie Sie es eingeschaltet haben.</translation>
  </message>
  <message>
   <source>When a plugin answers</source>
   <translation>Wann ein Plugin antwortet</translation>
  </message>
  <message>
   <source>'named': only questions that begin with @plugin.</source>
   <translation>'named': nur Fragen, die mit @plugin beginnen.</translation>
  </message>
  <message>
   <source>Named</source>
   <translation>Benannt</translation>
  </message>
  <message>
   <source>Window</source>
   <translation>Fenster</translation>
  </message>
  <message>
   <source>Look</source>
   <translation>Aussehen</translation>
  </message>
  <message>
   <source>System</source>
   <translation>Wie das System</translation>
  </message>
  <message>
   <source>Light</source>
   <translation>Hell</translation>
  </message>
  <message>
   <source>Dark</source>
   <translation>Dunkel</translation>
  </message>
  <message>
   <source>Language</source>
   <translation>Sprache</translation>
  </message>
  <message>
   <source>En</source>
   <translation>Englisch</translation>
  </message>
  <message>
   <source>Zh</source>
   <translation>Chinesisch</translation>
  </message>
  <message>
   <source>De</source>
   <translation>Deutsch</translation>
  </message>
  <message>
   <source>Closing the window keeps Moat in the tray</source>
   <translation>Geschlossen bleibt Moat im Infobereich</translation>
  </message>
  <message>
   <source>Offline</source>
   <translation>Offline</translation>
  </message>
  <message>
   <source>Refuse every outgoing connection.</source>
   <translation>Jede ausgehende Verbindung verweigern.</translation>
  </message>
  <message>
   <source>Proxy</source>
   <translation>Proxy</translation>
  </message>
  <message>
   <source>http://host:port</source>
   <translation>http://host:port</translation>
  </message>
  <message>
   <source>Extra certificate authority (PEM file)</source>
   <translation>Weitere Zertifizierungsstelle (PEM-Datei)</translation>
  </message>
  <message>
   <source>Model hub</source>
   <translation>Modell-Hub</translation>
  </message>
  <message>
   <source>A mirror of Hugging Face. Empty: HF_ENDPOINT, else huggingface.co.</source>
   <translation>Ein Spiegel von Hugging Face. Leer: HF_ENDPOINT, sonst huggingface.co.</translation>
  </message>
  <message>
   <source>Storage hosts of the hub</source>
   <translation>Speicherhosts des Hubs</translation>
  </message>
  <message>
   <source>Domains a mirror may send downloads to, besides its own.</source>
   <translation>Domains, zu denen ein Spiegel Downloads schicken darf, außer der eigenen.</translation>
  </message>
  <message>
   <source>Download limit (MB/s)</source>
   <translation>Download-Grenze (MB/s)</translation>
  </message>
  <message>
   <source>0: none.</source>
   <translation>0: keine.</translation>
  </message>
  <message>
   <source>Privacy</source>
   <translation>Privatsphäre</translation>
  </message>
  <message>
   <source>Write prompts to the log</source>
   <translation>Fragen ins Protokoll schreiben</translation>
  </message>
  <message>
   <source>Off unless you look for a fault.</source>
   <translation>Aus, solange Sie keinen Fehler suchen.</translation>
  </message>
  <message>
   <source>New versions</source>
   <translation>Neue Versionen</translation>
  </message>
  <message>
   <source>Look for new versions once a day</source>
   <translation>Einmal am Tag nach neuen Versionen sehen</translation>
  </message>
  <message>
   <source>You are told about one. Nothing is downloaded or installed by itself.</source>
   <translation>Moat sagt es nur. Nichts wird von selbst geladen oder installiert.</translation>
  </message>
  <message>
   <source>Where they are announced</source>
   <translation>Wo sie angekündigt werden</translation>
  </message>
  <message>
   <source>Empty: as this package was made.</source>
   <translation>Leer: wie dieses Paket gemacht wurde.</translation>
  </message>
  <message>
   <source>Key of those who announce them</source>
   <translation>Schlüssel derer, die sie ankündigen</translation>
  </message>
  <message>
   <source>Ed25519 in base64. What it did not sign is not believed.</source>
   <translation>Ed25519 in Base64. Was er nicht unterschrieben hat, wird nicht geglaubt.</translation>
  </message>
 </context>
</TS>
