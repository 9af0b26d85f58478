<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de">
 <context>
  <name>Moat</name>
  <message>
   <source>Moat cannot monitor the programs of {count} plugins: {names}.</source>
   <translation>Moat kann die Programme von {count} Plugins nicht überwachen: {names}.</translation>
  </message>
  <message>
   <source>Prompts, documents and answers are processed on this computer and stay on it.</source>
   <translation>Fragen, Dokumente und Antworten werden auf diesem Computer verarbeitet und bleiben dort.</translation>
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
   <translation>Route</translation>
  </message>
  <message>
   <source>Model</source>
   <translation>Modell</translation>
  </message>
  <message>
   <source>Tokens</source>
   <translation>Token</translation>
  </message>
  <message>
   <source>Duration</source>
   <translation>Dauer</translation>
  </message>
  <message>
   <source>Result</source>
   <translation>Ergebnis</translation>
  </message>
  <message>
   <source>unnamed</source>
   <translation>unbenannt</translation>
  </message>
  <message>
   <source>Host</source>
   <translation>Host</translation>
  </message>
  <message>
   <source>Purpose</source>
   <translation>Zweck</translation>
  </message>
  <message>
   <source>Answer</source>
   <translation>Antwort</translation>
  </message>
  <message>
   <source>Received</source>
   <translation>Empfangen</translation>
  </message>
  <message>
   <source>No answer</source>
   <translation>Keine Antwort</translation>
  </message>
  <message>
   <source>{host} (this computer)</source>
   <translation>{host} (dieser Computer)</translation>
  </message>
  <message>
   <source>Answered</source>
   <translation>Beantwortet</translation>
  </message>
  <message>
   <source>Length limit</source>
   <translation>Längengrenze</translation>
  </message>
  <message>
   <source>Tool call</source>
   <translation>Werkzeugaufruf</translation>
  </message>
  <message>
   <source>Client disconnected</source>
   <translation>Vom Programm getrennt</translation>
  </message>
  <message>
   <source>Cancelled</source>
   <translation>Abgebrochen</translation>
  </message>
  <message>
   <source>Moat stopped</source>
   <translation>Moat gestoppt</translation>
  </message>
  <message>
   <source>Engine stopped</source>
   <translation>Engine beendet</translation>
  </message>
  <message>
   <source>Queue full</source>
   <translation>Warteschlange voll</translation>
  </message>
  <message>
   <source>Prompt too long</source>
   <translation>Eingabe zu lang</translation>
  </message>
  <message>
   <source>Refused</source>
   <translation>Abgelehnt</translation>
  </message>
  <message>
   <source>Timed out</source>
   <translation>Zeitüberschreitung</translation>
  </message>
  <message>
   <source>Chat template error</source>
   <translation>Chat-Vorlage fehlerhaft</translation>
  </message>
  <message>
   <source>Unknown model</source>
   <translation>Unbekanntes Modell</translation>
  </message>
  <message>
   <source>No model installed</source>
   <translation>Kein Modell installiert</translation>
  </message>
  <message>
   <source>Model not loaded</source>
   <translation>Modell nicht geladen</translation>
  </message>
  <message>
   <source>Not enough memory</source>
   <translation>Nicht genug Speicher</translation>
  </message>
  <message>
   <source>Model file damaged</source>
   <translation>Modelldatei beschädigt</translation>
  </message>
  <message>
   <source>Not supported</source>
   <translation>Nicht unterstützt</translation>
  </message>
  <message>
   <source>Blocked</source>
   <translation>Blockiert</translation>
  </message>
  <message>
   <source>Unknown agent</source>
   <translation>Unbekannter Agent</translation>
  </message>
  <message>
   <source>Agent failed</source>
   <translation>Agent fehlgeschlagen</translation>
  </message>
  <message>
   <source>Flow failed</source>
   <translation>Ablauf fehlgeschlagen</translation>
  </message>
  <message>
   <source>Topic refused</source>
   <translation>Thema abgelehnt</translation>
  </message>
  <message>
   <source>Failed</source>
   <translation>Fehlgeschlagen</translation>
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
   <source>Prompts, documents and answers go to {hosts}, which runs the model.</source>
   <translation>Fragen, Dokumente und Antworten gehen an {hosts}, wo das Modell läuft.</translation>
  </message>
  <message>
   <source>Other computers may connect to Moat; they receive the answers to their own questions.</source>
   <translation>Andere Computer dürfen sich mit Moat verbinden; sie erhalten die Antworten auf ihre eigenen Fragen.</translation>
  </message>
  <message>
   <source>Offline mode is on: every outgoing connection is blocked.</source>
   <translation>Der Offline-Modus ist an: Jede ausgehende Verbindung wird blockiert.</translation>
  </message>
  <message>
   <source>Sections of this page</source>
   <translation>Abschnitte dieser Seite</translation>
  </message>
  <message>
   <source>Finished requests</source>
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
   <source>No requests yet.</source>
   <translation>Noch keine Anfragen.</translation>
  </message>
  <message>
   <source>No outgoing connections.</source>
   <translation>Keine ausgehenden Verbindungen.</translation>
  </message>
  <message>
   <source>Activity</source>
   <translation>Aktivität</translation>
  </message>
  <message>
   <source>Nothing has left this computer since {time}.</source>
   <translation>Seit {time} hat nichts diesen Computer verlassen.</translation>
  </message>
  <message>
   <source>Moat has connected to {host} and nowhere else.</source>
   <translation>Moat hat sich nur mit {host} verbunden.</translation>
  </message>
  <message>
   <source>Last at {time}: {why}.</source>
   <translation>Zuletzt um {time}: {why}.</translation>
  </message>
  <message>
   <source>None</source>
   <translation>Keines</translation>
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
   <source>1 more row</source>
   <translation>1 weitere Zeile</translation>
  </message>
  <message>
   <source>{count} more rows</source>
   <translation>{count} weitere Zeilen</translation>
  </message>
  <message>
   <source>{name} could not be read: {why}.</source>
   <translation>{name} konnte nicht gelesen werden: {why}.</translation>
  </message>
  <message>
   <source>Documents, text and images</source>
   <translation>Dokumente, Texte und Bilder</translation>
  </message>
  <message>
   <source>All files</source>
   <translation>Alle Dateien</translation>
  </message>
  <message>
   <source>{name} is an image, and the model in use cannot read images.</source>
   <translation>{name} ist ein Bild, und das verwendete Modell kann keine Bilder lesen.</translation>
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
   <source>{name} is not a valid image.</source>
   <translation>{name} ist kein gültiges Bild.</translation>
  </message>
  <message>
   <source>{name} contains no text.</source>
   <translation>{name} enthält keinen Text.</translation>
  </message>
  <message>
   <source>Pinned</source>
   <translation>Angeheftet</translation>
  </message>
  <message>
   <source>Today</source>
   <translation>Heute</translation>
  </message>
  <message>
   <source>Yesterday</source>
   <translation>Gestern</translation>
  </message>
  <message>
   <source>Previous 7 days</source>
   <translation>Letzte 7 Tage</translation>
  </message>
  <message>
   <source>Previous 30 days</source>
   <translation>Letzte 30 Tage</translation>
  </message>
  <message>
   <source>Older</source>
   <translation>Älter</translation>
  </message>
  <message>
   <source>Search chats</source>
   <translation>Chats durchsuchen</translation>
  </message>
  <message>
   <source>Saved chats</source>
   <translation>Gespeicherte Chats</translation>
  </message>
  <message>
   <source>Delete</source>
   <translation>Löschen</translation>
  </message>
  <message>
   <source>Cancel</source>
   <translation>Abbrechen</translation>
  </message>
  <message>
   <source>No chat matches.</source>
   <translation>Kein passender Chat gefunden.</translation>
  </message>
  <message>
   <source>Chats are saved here, on this computer.</source>
   <translation>Chats werden hier gespeichert, auf diesem Computer.</translation>
  </message>
  <message>
   <source>Pin</source>
   <translation>Anheften</translation>
  </message>
  <message>
   <source>Rename</source>
   <translation>Umbenennen</translation>
  </message>
  <message>
   <source>This deletes “{title}” for good.</source>
   <translation>„{title}“ wird endgültig gelöscht.</translation>
  </message>
  <message>
   <source>Rename {name}</source>
   <translation>{name} umbenennen</translation>
  </message>
  <message>
   <source>Delete {name}</source>
   <translation>{name} löschen</translation>
  </message>
  <message>
   <source>Confirm: delete {name}</source>
   <translation>Bestätigen: {name} löschen</translation>
  </message>
  <message>
   <source>Cancel: keep {name}</source>
   <translation>Abbrechen: {name} behalten</translation>
  </message>
  <message>
   <source>Unpin {name}</source>
   <translation>{name} nicht mehr anheften</translation>
  </message>
  <message>
   <source>Pin {name}</source>
   <translation>{name} anheften</translation>
  </message>
  <message>
   <source>You</source>
   <translation>Sie</translation>
  </message>
  <message>
   <source>{name}, page {page}</source>
   <translation>{name}, Seite {page}</translation>
  </message>
  <message>
   <source>Image</source>
   <translation>Bild</translation>
  </message>
  <message>
   <source>Text</source>
   <translation>Text</translation>
  </message>
  <message>
   <source>Folder</source>
   <translation>Ordner</translation>
  </message>
  <message>
   <source>{done} of {all} files read</source>
   <translation>{done} von {all} Dateien gelesen</translation>
  </message>
  <message>
   <source>Reading…</source>
   <translation>Wird gelesen …</translation>
  </message>
  <message>
   <source>Not read to the end</source>
   <translation>Nicht zu Ende gelesen</translation>
  </message>
  <message>
   <source>Cannot be searched</source>
   <translation>Kann nicht durchsucht werden</translation>
  </message>
  <message>
   <source>Contains no text</source>
   <translation>Enthält keinen Text</translation>
  </message>
  <message>
   <source>Searched for each question</source>
   <translation>Wird bei jeder Frage durchsucht</translation>
  </message>
  <message>
   <source>{count} bytes</source>
   <translation>{count} Bytes</translation>
  </message>
  <message>
   <source>Not everything could be read</source>
   <translation>Nicht alles konnte gelesen werden</translation>
  </message>
  <message>
   <source>{count} files searched</source>
   <translation>{count} Dateien werden durchsucht</translation>
  </message>
  <message>
   <source>Remove {name}</source>
   <translation>{name} entfernen</translation>
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
   <source>A long file is not read whole. Moat finds the passages that fit each question.</source>
   <translation>Eine lange Datei wird nicht ganz gelesen. Moat sucht zu jeder Frage die passenden Stellen.</translation>
  </message>
  <message>
   <source>Attach files</source>
   <translation>Dateien anhängen</translation>
  </message>
  <message>
   <source>Stop the answer</source>
   <translation>Antwort stoppen</translation>
  </message>
  <message>
   <source>this code</source>
   <translation>diesen Code</translation>
  </message>
  <message>
   <source>Automatic</source>
   <translation>Automatisch</translation>
  </message>
  <message>
   <source>Write three tips for better sleep.</source>
   <translation>Schreibe drei Tipps für besseren Schlaf.</translation>
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
   <source>Moat is stopped</source>
   <translation>Moat ist gestoppt</translation>
  </message>
  <message>
   <source>The server is not running</source>
   <translation>Der Server läuft nicht</translation>
  </message>
  <message>
   <source>Moat does not respond</source>
   <translation>Moat reagiert nicht</translation>
  </message>
  <message>
   <source>could not be loaded</source>
   <translation>konnte nicht geladen werden</translation>
  </message>
  <message>
   <source>Protocol</source>
   <translation>Schnittstelle</translation>
  </message>
  <message>
   <source>Show raw events</source>
   <translation>Rohdaten anzeigen</translation>
  </message>
  <message>
   <source>System prompt</source>
   <translation>Systemprompt</translation>
  </message>
  <message>
   <source>Instructions for the model</source>
   <translation>Anweisungen für das Modell</translation>
  </message>
  <message>
   <source>Temperature</source>
   <translation>Temperatur</translation>
  </message>
  <message>
   <source>Maximum length</source>
   <translation>Maximale Länge</translation>
  </message>
  <message>
   <source>OpenBB's protocol has no system prompt and no sampling options.</source>
   <translation>Die Schnittstelle von OpenBB kennt weder Systemprompt noch Sampling-Optionen.</translation>
  </message>
  <message>
   <source>Raw events</source>
   <translation>Rohdaten</translation>
  </message>
  <message>
   <source>The events of the next answer appear here.</source>
   <translation>Die Rohdaten der nächsten Antwort erscheinen hier.</translation>
  </message>
  <message>
   <source>the raw events</source>
   <translation>die Rohdaten</translation>
  </message>
  <message>
   <source>Start</source>
   <translation>Starten</translation>
  </message>
  <message>
   <source>Moat is starting</source>
   <translation>Moat startet</translation>
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
   <source>Choose a model</source>
   <translation>Modell wählen</translation>
  </message>
  <message>
   <source>Choose the model that answers</source>
   <translation>Das Modell wählen, das antwortet</translation>
  </message>
  <message>
   <source>New chat</source>
   <translation>Neuer Chat</translation>
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
   <source>Start Moat to chat with a model</source>
   <translation>Starten Sie Moat, um mit einem Modell zu chatten</translation>
  </message>
  <message>
   <source>Write a message; it can be sent in a moment</source>
   <translation>Nachricht schreiben; sie kann gleich gesendet werden</translation>
  </message>
  <message>
   <source>Export this chat</source>
   <translation>Diesen Chat exportieren</translation>
  </message>
  <message>
   <source>More models…</source>
   <translation>Weitere Modelle …</translation>
  </message>
  <message>
   <source>Start it to chat with a model.</source>
   <translation>Starten Sie es, um mit einem Modell zu chatten.</translation>
  </message>
  <message>
   <source>Restart</source>
   <translation>Neu starten</translation>
  </message>
  <message>
   <source>No model is loaded</source>
   <translation>Kein Modell geladen</translation>
  </message>
  <message>
   <source>Your first message loads the default model, or choose one now.</source>
   <translation>Ihre erste Nachricht lädt das Standardmodell, oder wählen Sie jetzt eines.</translation>
  </message>
  <message>
   <source>Choose another model</source>
   <translation>Anderes Modell wählen</translation>
  </message>
  <message>
   <source>Show saved chats</source>
   <translation>Gespeicherte Chats zeigen</translation>
  </message>
  <message>
   <source>Show options</source>
   <translation>Optionen zeigen</translation>
  </message>
  <message>
   <source>The chat could not be exported: {why}.</source>
   <translation>Der Chat konnte nicht exportiert werden: {why}.</translation>
  </message>
  <message>
   <source>Search a folder</source>
   <translation>Einen Ordner durchsuchen</translation>
  </message>
  <message>
   <source>Model: {name}</source>
   <translation>Modell: {name}</translation>
  </message>
  <message>
   <source>Loading {name}</source>
   <translation>{name} wird geladen</translation>
  </message>
  <message>
   <source>{percent}. You can already type your message.</source>
   <translation>{percent}. Sie können Ihre Nachricht schon schreiben.</translation>
  </message>
  <message>
   <source>{name} could not be loaded</source>
   <translation>{name} konnte nicht geladen werden</translation>
  </message>
  <message>
   <source>Everything you write is sent to {hosts}.</source>
   <translation>Alles, was Sie schreiben, wird an {hosts} gesendet.</translation>
  </message>
  <message>
   <source>Ask {name}</source>
   <translation>{name} fragen</translation>
  </message>
  <message>
   <source>Attach files…</source>
   <translation>Dateien anhängen …</translation>
  </message>
  <message>
   <source>Search a folder…</source>
   <translation>Einen Ordner durchsuchen …</translation>
  </message>
  <message>
   <source>Saved system prompts</source>
   <translation>Gespeicherte Systemprompts</translation>
  </message>
  <message>
   <source>Not saved</source>
   <translation>Nicht gespeichert</translation>
  </message>
  <message>
   <source>Save</source>
   <translation>Speichern</translation>
  </message>
  <message>
   <source>Name</source>
   <translation>Name</translation>
  </message>
  <message>
   <source>Name of the system prompt</source>
   <translation>Name des Systemprompts</translation>
  </message>
  <message>
   <source>Save this system prompt</source>
   <translation>Diesen Systemprompt speichern</translation>
  </message>
  <message>
   <source>Delete this saved system prompt</source>
   <translation>Diesen gespeicherten Systemprompt löschen</translation>
  </message>
  <message>
   <source>Save under this name</source>
   <translation>Unter diesem Namen speichern</translation>
  </message>
  <message>
   <source>Only the beginning is shown.</source>
   <translation>Nur der Anfang wird gezeigt.</translation>
  </message>
  <message>
   <source>Show all as text</source>
   <translation>Alles als Text zeigen</translation>
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
   <source>Show passages</source>
   <translation>Stellen anzeigen</translation>
  </message>
  <message>
   <source>Show reasoning</source>
   <translation>Gedankengang zeigen</translation>
  </message>
  <message>
   <source>Reasoning</source>
   <translation>Gedankengang</translation>
  </message>
  <message>
   <source>Waiting for the first token…</source>
   <translation>Wartet auf das erste Token …</translation>
  </message>
  <message>
   <source>the answer</source>
   <translation>die Antwort</translation>
  </message>
  <message>
   <source>The answer was interrupted</source>
   <translation>Die Antwort wurde unterbrochen</translation>
  </message>
  <message>
   <source>Conversation</source>
   <translation>Gespräch</translation>
  </message>
  <message>
   <source>Hide the text</source>
   <translation>Text ausblenden</translation>
  </message>
  <message>
   <source>A question to ask</source>
   <translation>Eine Frage</translation>
  </message>
  <message>
   <source>Previous version</source>
   <translation>Vorherige Fassung</translation>
  </message>
  <message>
   <source>Next version</source>
   <translation>Nächste Fassung</translation>
  </message>
  <message>
   <source>Edit and resend</source>
   <translation>Bearbeiten und erneut senden</translation>
  </message>
  <message>
   <source>You: {text}</source>
   <translation>Sie: {text}</translation>
  </message>
  <message>
   <source>Regenerate</source>
   <translation>Neu generieren</translation>
  </message>
  <message>
   <source>Regenerate with another model</source>
   <translation>Mit einem anderen Modell neu generieren</translation>
  </message>
  <message>
   <source>Working…</source>
   <translation>Arbeitet …</translation>
  </message>
  <message>
   <source>Stopped</source>
   <translation>Gestoppt</translation>
  </message>
  <message>
   <source>Show {count} earlier messages</source>
   <translation>{count} frühere Nachrichten zeigen</translation>
  </message>
  <message>
   <source>Version {number} of {count}</source>
   <translation>Fassung {number} von {count}</translation>
  </message>
  <message>
   <source>{time} s to first token</source>
   <translation>{time} s bis zum ersten Token</translation>
  </message>
  <message>
   <source>length limit reached</source>
   <translation>Längengrenze erreicht</translation>
  </message>
  <message>
   <source>The model returned an empty answer.</source>
   <translation>Das Modell hat eine leere Antwort geliefert.</translation>
  </message>
  <message>
   <source>{speed} tokens/s</source>
   <translation>{speed} Token/s</translation>
  </message>
  <message>
   <source>{used} of {all} tokens of context used</source>
   <translation>{used} von {all} Token Kontext benutzt</translation>
  </message>
  <message>
   <source>Searching your files…</source>
   <translation>Ihre Dateien werden durchsucht …</translation>
  </message>
  <message>
   <source>Nothing in your files matches this question.</source>
   <translation>In Ihren Dateien passt nichts zu dieser Frage.</translation>
  </message>
  <message>
   <source>Open the copilot's menu in OpenBB Workspace, choose to add an agent, and paste:</source>
   <translation>Öffnen Sie in OpenBB Workspace das Menü des Copiloten, wählen Sie das Hinzufügen eines Agenten und fügen Sie ein:</translation>
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
   <source>Any program that uses the OpenAI API works with this base URL:</source>
   <translation>Jedes Programm, das die OpenAI-API nutzt, funktioniert mit dieser Basis-URL:</translation>
  </message>
  <message>
   <source>Use this runtime URL in your React app; if its origin is not allowed yet, add it:</source>
   <translation>Verwenden Sie in Ihrer React-App diese Runtime-URL; fügen Sie ihre Herkunft hinzu, falls sie noch nicht erlaubt ist:</translation>
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
   <source>Programs made for Ollama only need a different host:</source>
   <translation>Programme für Ollama brauchen nur einen anderen Host:</translation>
  </message>
  <message>
   <source>Even with these settings it asks {hosts} by itself.</source>
   <translation>Auch mit diesen Einstellungen fragt es von sich aus {hosts}.</translation>
  </message>
  <message>
   <source>The older form, for apps with @copilotkit/react-ui:</source>
   <translation>Die ältere Form, für Apps mit @copilotkit/react-ui:</translation>
  </message>
  <message>
   <source>Ollama programs</source>
   <translation>Ollama-Programme</translation>
  </message>
  <message>
   <source>Whether it asks other hosts by itself was not tried here.</source>
   <translation>Ob es von sich aus andere Server fragt, wurde hier nicht ausprobiert.</translation>
  </message>
  <message>
   <source>With these settings it asked no other host when it was tried.</source>
   <translation>Mit diesen Einstellungen hat es beim Ausprobieren keinen anderen Server gefragt.</translation>
  </message>
  <message>
   <source>It found the agent “{name}”.</source>
   <translation>Gefunden: der Agent „{name}“.</translation>
  </message>
  <message>
   <source>It found: {names}.</source>
   <translation>Gefunden: {names}.</translation>
  </message>
  <message>
   <source>{model} answered ({count} token requested).</source>
   <translation>{model} hat geantwortet ({count} Token angefordert).</translation>
  </message>
  <message>
   <source>The connection works, but no model is installed yet.</source>
   <translation>Die Verbindung funktioniert, aber es ist noch kein Modell installiert.</translation>
  </message>
  <message>
   <source>Program</source>
   <translation>Programm</translation>
  </message>
  <message>
   <source>What the program reads</source>
   <translation>Was das Programm liest</translation>
  </message>
  <message>
   <source>what the program reads</source>
   <translation>was das Programm liest</translation>
  </message>
  <message>
   <source>Write the file…</source>
   <translation>Die Datei schreiben …</translation>
  </message>
  <message>
   <source>Into {file}:</source>
   <translation>In {file}:</translation>
  </message>
  <message>
   <source>Add this to {file}:</source>
   <translation>Fügen Sie das in {file} ein:</translation>
  </message>
  <message>
   <source>Write the file</source>
   <translation>Die Datei schreiben</translation>
  </message>
  <message>
   <source>Editors and agents</source>
   <translation>Editoren und Agenten</translation>
  </message>
  <message>
   <source>Written: {path}</source>
   <translation>Geschrieben: {path}</translation>
  </message>
  <message>
   <source>Then: {what}</source>
   <translation>Dann: {what}</translation>
  </message>
  <message>
   <source>The file could not be written: {why}.</source>
   <translation>Die Datei konnte nicht geschrieben werden: {why}.</translation>
  </message>
  <message>
   <source>No key is required at the moment: limits apply only to clients that send their key.</source>
   <translation>Zurzeit wird kein Schlüssel verlangt: Grenzen gelten nur für Programme, die ihren Schlüssel senden.</translation>
  </message>
  <message>
   <source>Safari lets web pages reach this computer only over HTTPS, and other computers must use it. A certificate that is created here is valid for this computer only and renews itself.</source>
   <translation>Safari lässt Webseiten diesen Computer nur über HTTPS erreichen, und andere Computer müssen es benutzen. Ein hier erstelltes Zertifikat gilt nur für diesen Computer und erneuert sich selbst.</translation>
  </message>
  <message>
   <source>Trust it once, in a terminal. In Firefox import the file as an authority:</source>
   <translation>Vertrauen Sie ihm einmal, in einem Terminal. In Firefox importieren Sie die Datei als Zertifizierungsstelle:</translation>
  </message>
  <message>
   <source>Revoke</source>
   <translation>Widerrufen</translation>
  </message>
  <message>
   <source>Revoke now</source>
   <translation>Jetzt widerrufen</translation>
  </message>
  <message>
   <source>{count} tokens today</source>
   <translation>heute {count} Token</translation>
  </message>
  <message>
   <source>reads metrics</source>
   <translation>liest die Messwerte</translation>
  </message>
  <message>
   <source>No named keys yet. Give each person or program its own key; each can be revoked separately.</source>
   <translation>Noch keine benannten Schlüssel. Geben Sie jeder Person und jedem Programm einen eigenen, der sich einzeln widerrufen lässt.</translation>
  </message>
  <message>
   <source>A person or a program</source>
   <translation>Eine Person oder ein Programm</translation>
  </message>
  <message>
   <source>Empty: all. Separate several with commas.</source>
   <translation>Leer: alle. Mehrere durch Kommas trennen.</translation>
  </message>
  <message>
   <source>Create key</source>
   <translation>Schlüssel anlegen</translation>
  </message>
  <message>
   <source>The new key</source>
   <translation>Der neue Schlüssel</translation>
  </message>
  <message>
   <source>the new key</source>
   <translation>den neuen Schlüssel</translation>
  </message>
  <message>
   <source>Models</source>
   <translation>Modelle</translation>
  </message>
  <message>
   <source>Concurrent requests</source>
   <translation>Gleichzeitige Anfragen</translation>
  </message>
  <message>
   <source>Tokens per day</source>
   <translation>Token pro Tag</translation>
  </message>
  <message>
   <source>Test</source>
   <translation>Testen</translation>
  </message>
  <message>
   <source>There is no address while Moat is stopped.</source>
   <translation>Solange Moat gestoppt ist, gibt es keine Adresse.</translation>
  </message>
  <message>
   <source>Test again</source>
   <translation>Erneut testen</translation>
  </message>
  <message>
   <source>Testing…</source>
   <translation>Wird getestet …</translation>
  </message>
  <message>
   <source>Turn on HTTPS</source>
   <translation>HTTPS einschalten</translation>
  </message>
  <message>
   <source>HTTPS address</source>
   <translation>HTTPS-Adresse</translation>
  </message>
  <message>
   <source>the HTTPS address</source>
   <translation>die HTTPS-Adresse</translation>
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
   <source>{count} of {limit} tokens today</source>
   <translation>heute {count} von {limit} Token</translation>
  </message>
  <message>
   <source>{count} at a time</source>
   <translation>{count} gleichzeitig</translation>
  </message>
  <message>
   <source>only {models}</source>
   <translation>nur {models}</translation>
  </message>
  <message>
   <source>No limit</source>
   <translation>Unbegrenzt</translation>
  </message>
  <message>
   <source>Create a named key</source>
   <translation>Einen benannten Schlüssel anlegen</translation>
  </message>
  <message>
   <source>Keys</source>
   <translation>Schlüssel</translation>
  </message>
  <message>
   <source>Other machines connect to {address}.</source>
   <translation>Andere Rechner verbinden sich mit {address}.</translation>
  </message>
  <message>
   <source>Connect</source>
   <translation>Verbinden</translation>
  </message>
  <message>
   <source>The key for {name}. Copy it now: it is not shown again.</source>
   <translation>Der Schlüssel für {name}. Kopieren Sie ihn jetzt: Er wird nicht noch einmal gezeigt.</translation>
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
   <translation>Text zum Einfügen in {name}</translation>
  </message>
  <message>
   <source>what to paste for {name}</source>
   <translation>den Text für {name}</translation>
  </message>
  <message>
   <source>What to paste for an older {name}</source>
   <translation>Text zum Einfügen in ein älteres {name}</translation>
  </message>
  <message>
   <source>what to paste for an older {name}</source>
   <translation>den Text für ein älteres {name}</translation>
  </message>
  <message>
   <source>Revoke {name}</source>
   <translation>{name} widerrufen</translation>
  </message>
  <message>
   <source>Really revoke {name}</source>
   <translation>{name} wirklich widerrufen</translation>
  </message>
  <message>
   <source>Test {name}</source>
   <translation>{name} testen</translation>
  </message>
  <message>
   <source>Let pages of {site} use your models?</source>
   <translation>Dürfen Seiten von {site} Ihre Modelle benutzen?</translation>
  </message>
  <message>
   <source>When you connect from a web page and nothing appears here, the browser kept the request back.
Chrome, Edge (142 and later): the icon left of the address, then “Local network access”, then Allow; reload the page.
Firefox: allow it when it asks to reach devices on your local network.
Brave: the shield icon, then allow localhost for this site.
Safari: turn on HTTPS on this page first.</source>
   <translation>Wenn Sie sich von einer Webseite aus verbinden und hier nichts erscheint, hat der Browser die Anfrage zurückgehalten.
Chrome, Edge (ab 142): das Symbol links der Adresse, dann „Zugriff auf lokales Netzwerk“, dann Zulassen; Seite neu laden.
Firefox: erlauben Sie es, wenn er nach Geräten im lokalen Netzwerk fragt.
Brave: das Schild-Symbol, dann localhost für diese Seite erlauben.
Safari: Schalten Sie zuerst auf dieser Seite HTTPS ein.</translation>
  </message>
  <message>
   <source>This address has letters that a browser may show in another script (xn--). They can look like those of another address.</source>
   <translation>Diese Adresse hat Buchstaben, die ein Browser in einer anderen Schrift zeigen kann (xn--). Sie können denen einer anderen Adresse gleichen.</translation>
  </message>
  <message>
   <source>Not connecting?</source>
   <translation>Keine Verbindung?</translation>
  </message>
  <message>
   <source>Blocked: this origin is not allowed.</source>
   <translation>Blockiert: Diese Herkunft ist nicht erlaubt.</translation>
  </message>
  <message>
   <source>The access key was missing or wrong.</source>
   <translation>Der Zugangsschlüssel fehlte oder war falsch.</translation>
  </message>
  <message>
   <source>The browser asked for permission and got it, but no request followed.</source>
   <translation>Der Browser hat um Erlaubnis gefragt und sie erhalten, aber es folgte keine Anfrage.</translation>
  </message>
  <message>
   <source>Connected.</source>
   <translation>Verbunden.</translation>
  </message>
  <message>
   <source>You just allowed it.</source>
   <translation>Sie haben sie eben erlaubt.</translation>
  </message>
  <message>
   <source>No other page has tried to connect.</source>
   <translation>Keine andere Seite hat versucht, sich zu verbinden.</translation>
  </message>
  <message>
   <source>No web page has tried to connect yet. Each attempt is shown here, allowed or blocked.</source>
   <translation>Noch keine Webseite hat versucht, sich zu verbinden. Jeder Versuch wird hier gezeigt, erlaubt oder blockiert.</translation>
  </message>
  <message>
   <source>Pages of {site} may use your models now.</source>
   <translation>Seiten von {site} dürfen jetzt Ihre Modelle benutzen.</translation>
  </message>
  <message>
   <source>Allow</source>
   <translation>Erlauben</translation>
  </message>
  <message>
   <source>Undo</source>
   <translation>Rückgängig</translation>
  </message>
  <message>
   <source>Remove</source>
   <translation>Entfernen</translation>
  </message>
  <message>
   <source>Copy the key</source>
   <translation>Schlüssel kopieren</translation>
  </message>
  <message>
   <source>Recent connection attempts</source>
   <translation>Letzte Verbindungsversuche</translation>
  </message>
  <message>
   <source>Allow {origin}</source>
   <translation>{origin} erlauben</translation>
  </message>
  <message>
   <source>No longer allow {origin}</source>
   <translation>{origin} nicht mehr erlauben</translation>
  </message>
  <message>
   <source>Pages at {origin} may not connect. Allow this origin below.</source>
   <translation>Seiten von {origin} dürfen sich nicht verbinden. Erlauben Sie diese Adresse unten.</translation>
  </message>
  <message>
   <source>A program</source>
   <translation>Ein Programm</translation>
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
   <source>Waiting for a program… No request so far.</source>
   <translation>Warte auf ein Programm … Bisher keine Anfrage.</translation>
  </message>
  <message>
   <source>{who} tried to connect and was blocked. Allow it on the Connect page.</source>
   <translation>{who} wollte sich verbinden und wurde blockiert. Erlauben Sie es auf der Seite „Verbinden“.</translation>
  </message>
  <message>
   <source>{who} tried to connect without the access key. Copy it on the Connect page.</source>
   <translation>{who} wollte sich ohne Zugangsschlüssel verbinden. Kopieren Sie ihn auf der Seite „Verbinden“.</translation>
  </message>
  <message>
   <source>{who} found Moat (it asked for {path}). Now ask it a question there.</source>
   <translation>{who} hat Moat gefunden (es fragte nach {path}). Stellen Sie dort jetzt eine Frage.</translation>
  </message>
  <message>
   <source>{who} asked a question. The model is answering…</source>
   <translation>{who} hat eine Frage gestellt. Das Modell antwortet …</translation>
  </message>
  <message>
   <source>{who} asked a question, but it failed. The Activity page says why.</source>
   <translation>{who} hat eine Frage gestellt, aber sie ist fehlgeschlagen. Die Seite „Aktivität“ zeigt, warum.</translation>
  </message>
  <message>
   <source>It works: {who} asked a question and has its answer.</source>
   <translation>Es funktioniert: {who} hat eine Frage gestellt und die Antwort erhalten.</translation>
  </message>
  <message>
   <source>{path} returned something this client cannot read.</source>
   <translation>{path} lieferte etwas, das dieses Programm nicht lesen kann.</translation>
  </message>
  <message>
   <source>the server answered with status {status}.</source>
   <translation>der Server antwortete mit Status {status}.</translation>
  </message>
  <message>
   <source>No response from {address}. Is Moat running?</source>
   <translation>Unter {address} antwortet nichts. Läuft Moat?</translation>
  </message>
  <message>
   <source>The answer does not let {origin} read it.</source>
   <translation>Die Antwort lässt sich von {origin} nicht lesen.</translation>
  </message>
  <message>
   <source>{card} and its driver were found, without support for CUDA.</source>
   <translation>{card} und ihr Treiber wurden gefunden, Unterstützung für CUDA fehlt.</translation>
  </message>
  <message>
   <source>{percent} done. Moat serves on the processor meanwhile.</source>
   <translation>{percent} fertig. Moat rechnet inzwischen auf dem Prozessor.</translation>
  </message>
  <message>
   <source>In measurements, answers came {times} times as fast as with Vulkan ({card}).</source>
   <translation>In Messungen kamen Antworten {times}-mal so schnell wie mit Vulkan ({card}).</translation>
  </message>
  <message>
   <source>Check the download size</source>
   <translation>Größe des Downloads abfragen</translation>
  </message>
  <message>
   <source>Download</source>
   <translation>Herunterladen</translation>
  </message>
  <message>
   <source>Stop compiling</source>
   <translation>Kompilieren abbrechen</translation>
  </message>
  <message>
   <source>Faster with CUDA</source>
   <translation>Schneller mit CUDA</translation>
  </message>
  <message>
   <source>Vulkan uses it now. CUDA is usually faster, but that was not measured here.</source>
   <translation>Sie wird jetzt über Vulkan genutzt. CUDA ist meist schneller, hier wurde das aber nicht gemessen.</translation>
  </message>
  <message>
   <source>Models run on the processor now, and would run on the card.</source>
   <translation>Modelle laufen jetzt auf dem Prozessor und liefen dann auf der Karte.</translation>
  </message>
  <message>
   <source>It comes from the address of the releases, and is used only if it is signed.</source>
   <translation>Sie kommt von der Adresse der Veröffentlichungen und wird nur mit gültiger Signatur genutzt.</translation>
  </message>
  <message>
   <source>Download ({size})</source>
   <translation>Herunterladen ({size})</translation>
  </message>
  <message>
   <source>Support for {kind} is being compiled</source>
   <translation>Unterstützung für {kind} wird kompiliert</translation>
  </message>
  <message>
   <source>Context</source>
   <translation>Kontext</translation>
  </message>
  <message>
   <source>How many tokens the model can read and write in one conversation.</source>
   <translation>Wie viele Token das Modell in einem Gespräch lesen und schreiben kann.</translation>
  </message>
  <message>
   <source>GPU layers</source>
   <translation>GPU-Schichten</translation>
  </message>
  <message>
   <source>Split across GPUs</source>
   <translation>Aufteilung auf die GPUs</translation>
  </message>
  <message>
   <source>Cache precision</source>
   <translation>Cache-Genauigkeit</translation>
  </message>
  <message>
   <source>Concurrent answers</source>
   <translation>Gleichzeitige Antworten</translation>
  </message>
  <message>
   <source>CPU threads</source>
   <translation>CPU-Threads</translation>
  </message>
  <message>
   <source>Batch size (tokens)</source>
   <translation>Batch-Größe (Token)</translation>
  </message>
  <message>
   <source>A larger batch reads long prompts faster on a GPU and uses more memory.</source>
   <translation>Ein größerer Batch liest lange Eingaben auf einer GPU schneller und braucht mehr Speicher.</translation>
  </message>
  <message>
   <source>Flash attention</source>
   <translation>Flash-Attention</translation>
  </message>
  <message>
   <source>Weights</source>
   <translation>Gewichte</translation>
  </message>
  <message>
   <source>Compute buffers</source>
   <translation>Rechenpuffer</translation>
  </message>
  <message>
   <source>On the graphics card</source>
   <translation>Auf der Grafikkarte</translation>
  </message>
  <message>
   <source>Use these settings</source>
   <translation>Diese Einstellungen benutzen</translation>
  </message>
  <message>
   <source>Model to check</source>
   <translation>Zu prüfendes Modell</translation>
  </message>
  <message>
   <source>Memory use</source>
   <translation>Speicherbedarf</translation>
  </message>
  <message>
   <source>Hardware</source>
   <translation>Hardware</translation>
  </message>
  <message>
   <source>A quarter of the memory</source>
   <translation>Ein Viertel des Speichers</translation>
  </message>
  <message>
   <source>No model yet. Get one on the Models page.</source>
   <translation>Noch kein Modell. Holen Sie eines auf der Seite „Modelle“.</translation>
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
   <source>On</source>
   <translation>An</translation>
  </message>
  <message>
   <source>Off</source>
   <translation>Aus</translation>
  </message>
  <message>
   <source>reads {read} and writes {write} tokens per second</source>
   <translation>liest {read} und schreibt {write} Token pro Sekunde</translation>
  </message>
  <message>
   <source>Measured on {day} in {seconds} seconds.</source>
   <translation>Gemessen am {day} in {seconds} Sekunden.</translation>
  </message>
  <message>
   <source>Flash attention on, batches of {batch}, {threads} threads: </source>
   <translation>Flash-Attention an, Batches von {batch}, {threads} Threads: </translation>
  </message>
  <message>
   <source>Flash attention off, batches of {batch}, {threads} threads: </source>
   <translation>Flash-Attention aus, Batches von {batch}, {threads} Threads: </translation>
  </message>
  <message>
   <source>Measure now</source>
   <translation>Jetzt messen</translation>
  </message>
  <message>
   <source>Measuring…</source>
   <translation>Messung läuft …</translation>
  </message>
  <message>
   <source>Measure again</source>
   <translation>Erneut messen</translation>
  </message>
  <message>
   <source>Used from the next start, for settings that are automatic.</source>
   <translation>Gilt ab dem nächsten Start für Einstellungen, die auf „Automatisch“ stehen.</translation>
  </message>
  <message>
   <source>Other programs were busy meanwhile: measure again when they are not.</source>
   <translation>Andere Programme waren dabei beschäftigt: Messen Sie erneut, wenn sie es nicht sind.</translation>
  </message>
  <message>
   <source>Not measured yet. Moat measures it when idle.</source>
   <translation>Noch nicht gemessen. Moat misst, wenn es nichts zu tun hat.</translation>
  </message>
  <message>
   <source>Measured speed</source>
   <translation>Gemessene Geschwindigkeit</translation>
  </message>
  <message>
   <source>Loading the model</source>
   <translation>Das Modell wird geladen</translation>
  </message>
  <message>
   <source>Stop</source>
   <translation>Stoppen</translation>
  </message>
  <message>
   <source>Starting</source>
   <translation>Startet</translation>
  </message>
  <message>
   <source>Model in use</source>
   <translation>Verwendetes Modell</translation>
  </message>
  <message>
   <source>Unload</source>
   <translation>Entladen</translation>
  </message>
  <message>
   <source>Models are listed when the server responds.</source>
   <translation>Die Modelle erscheinen, sobald der Server antwortet.</translation>
  </message>
  <message>
   <source>the address</source>
   <translation>die Adresse</translation>
  </message>
  <message>
   <source>Chat here</source>
   <translation>Hier chatten</translation>
  </message>
  <message>
   <source>Connect OpenBB Workspace</source>
   <translation>OpenBB Workspace verbinden</translation>
  </message>
  <message>
   <source>Connect an editor</source>
   <translation>Einen Editor verbinden</translation>
  </message>
  <message>
   <source>Try again</source>
   <translation>Erneut versuchen</translation>
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
   <source>Stop loading</source>
   <translation>Laden abbrechen</translation>
  </message>
  <message>
   <source>Unload the model and free its memory</source>
   <translation>Das Modell entladen und seinen Speicher freigeben</translation>
  </message>
  <message>
   <source>Use it</source>
   <translation>Verwenden</translation>
  </message>
  <message>
   <source>Home</source>
   <translation>Start</translation>
  </message>
  <message>
   <source>{do} the server</source>
   <translation>Server: {do}</translation>
  </message>
  <message>
   <source>Log lines</source>
   <translation>Protokollzeilen</translation>
  </message>
  <message>
   <source>Pause</source>
   <translation>Pausieren</translation>
  </message>
  <message>
   <source>the visible or selected lines</source>
   <translation>die sichtbaren oder ausgewählten Zeilen</translation>
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
   <source>No line matches the filter.</source>
   <translation>Keine Zeile passt zum Filter.</translation>
  </message>
  <message>
   <source>No lines yet.</source>
   <translation>Noch keine Zeilen.</translation>
  </message>
  <message>
   <source>Minimum level</source>
   <translation>Mindeststufe</translation>
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
   <translation>Pausiert</translation>
  </message>
  <message>
   <source>Logs</source>
   <translation>Protokoll</translation>
  </message>
  <message>
   <source>This system has no usable keyring: it is stored unencrypted in {file}, readable only by you.</source>
   <translation>Dieses System hat keinen nutzbaren Schlüsselbund: Es wird unverschlüsselt in {file} gespeichert, nur für Sie lesbar.</translation>
  </message>
  <message>
   <source>It is stored in the system's keyring.</source>
   <translation>Es wird im Schlüsselbund des Systems gespeichert.</translation>
  </message>
  <message>
   <source>Download the file again, or choose another one.</source>
   <translation>Laden Sie die Datei erneut herunter, oder wählen Sie eine andere.</translation>
  </message>
  <message>
   <source>Close other programs, or choose a smaller model.</source>
   <translation>Schließen Sie andere Programme, oder wählen Sie ein kleineres Modell.</translation>
  </message>
  <message>
   <source>Free some space and try again.</source>
   <translation>Schaffen Sie Speicherplatz, und versuchen Sie es erneut.</translation>
  </message>
  <message>
   <source>Moat starts it again by itself. Try again in a moment.</source>
   <translation>Moat startet ihn von selbst neu. Versuchen Sie es gleich noch einmal.</translation>
  </message>
  <message>
   <source>Details</source>
   <translation>Details</translation>
  </message>
  <message>
   <source>Technical details</source>
   <translation>Technische Einzelheiten</translation>
  </message>
  <message>
   <source>Copied</source>
   <translation>Kopiert</translation>
  </message>
  <message>
   <source>Dismiss</source>
   <translation>Schließen</translation>
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
   <source>The processor reads {gigabytes} GB of weights and computes {billions} billion products per second (measured on {day}). Speeds of models are estimated from this.</source>
   <translation>Der Prozessor liest {gigabytes} GB Gewichte und rechnet {billions} Milliarden Produkte pro Sekunde (gemessen am {day}). Daraus wird das Tempo von Modellen geschätzt.</translation>
  </message>
  <message>
   <source>Support for graphics cards added: {names}</source>
   <translation>Hinzugefügte Unterstützung für Grafikkarten: {names}</translation>
  </message>
  <message>
   <source>How fast it computes is measured when models are suggested.</source>
   <translation>Wie schnell er rechnet, wird gemessen, wenn Modelle vorgeschlagen werden.</translation>
  </message>
  <message>
   <source>No usable graphics card found: models run on the processor.</source>
   <translation>Keine nutzbare Grafikkarte gefunden: Modelle laufen auf dem Prozessor.</translation>
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
   <translation>in Arbeit</translation>
  </message>
  <message>
   <source>waiting</source>
   <translation>wartend</translation>
  </message>
  <message>
   <source>Unnamed client</source>
   <translation>Unbenanntes Programm</translation>
  </message>
  <message>
   <source>Rescan</source>
   <translation>Erneut prüfen</translation>
  </message>
  <message>
   <source>Scanning this computer…</source>
   <translation>Dieser Computer wird geprüft …</translation>
  </message>
  <message>
   <source>Measure</source>
   <translation>Messen</translation>
  </message>
  <message>
   <source>memory</source>
   <translation>Speicher</translation>
  </message>
  <message>
   <source>free now</source>
   <translation>jetzt frei</translation>
  </message>
  <message>
   <source>processor cores</source>
   <translation>Prozessorkerne</translation>
  </message>
  <message>
   <source>This build of the engine cannot use it.</source>
   <translation>Diese Engine-Version kann sie nicht benutzen.</translation>
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
   <source>memory in use</source>
   <translation>belegter Speicher</translation>
  </message>
  <message>
   <source>Cancel this request</source>
   <translation>Diese Anfrage abbrechen</translation>
  </message>
  <message>
   <source>Rescan this computer</source>
   <translation>Diesen Computer erneut prüfen</translation>
  </message>
  <message>
   <source>Measure the speed of this computer</source>
   <translation>Das Tempo dieses Computers messen</translation>
  </message>
  <message>
   <source>Cancel the request of {who}</source>
   <translation>Die Anfrage von {who} abbrechen</translation>
  </message>
  <message>
   <source>This computer</source>
   <translation>Dieser Computer</translation>
  </message>
  <message>
   <source>Speed when last used: writes {writes} and reads {reads} tokens per second.</source>
   <translation>Tempo bei der letzten Nutzung: schreibt {writes} und liest {reads} Token pro Sekunde.</translation>
  </message>
  <message>
   <source>Estimated speed: writes {writes} and reads {reads} tokens per second.</source>
   <translation>Geschätztes Tempo: schreibt {writes} und liest {reads} Token pro Sekunde.</translation>
  </message>
  <message>
   <source>less than a minute left</source>
   <translation>noch weniger als eine Minute</translation>
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
   <source>Remove {name} from this list</source>
   <translation>{name} aus dieser Liste nehmen</translation>
  </message>
  <message>
   <source>Cancel {name}</source>
   <translation>{name} abbrechen</translation>
  </message>
  <message>
   <source>{done} of {total}</source>
   <translation>{done} von {total}</translation>
  </message>
  <message>
   <source>Verifying the checksum</source>
   <translation>Prüfsumme wird überprüft</translation>
  </message>
  <message>
   <source>{hours} h {minutes} min left</source>
   <translation>noch {hours} h {minutes} min</translation>
  </message>
  <message>
   <source>Load</source>
   <translation>Laden</translation>
  </message>
  <message>
   <source>Load {name}</source>
   <translation>{name} laden</translation>
  </message>
  <message>
   <source>about {size}</source>
   <translation>etwa {size}</translation>
  </message>
  <message>
   <source>Waiting</source>
   <translation>Wartet</translation>
  </message>
  <message>
   <source>Finished and verified</source>
   <translation>Fertig und überprüft</translation>
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
   <source>In use</source>
   <translation>In Verwendung</translation>
  </message>
  <message>
   <source>In use: {name}</source>
   <translation>In Verwendung: {name}</translation>
  </message>
  <message>
   <source>Loading</source>
   <translation>Lädt</translation>
  </message>
  <message>
   <source>Pause {name}</source>
   <translation>{name} pausieren</translation>
  </message>
  <message>
   <source>Resume {name}</source>
   <translation>{name} fortsetzen</translation>
  </message>
  <message>
   <source>Try {name} again</source>
   <translation>{name} erneut versuchen</translation>
  </message>
  <message>
   <source>{name} runs at {hosts}. Prompts are sent there.</source>
   <translation>{name} läuft auf {hosts}. Fragen werden dorthin gesendet.</translation>
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
   <translation>Eingreifen nötig</translation>
  </message>
  <message>
   <source>This takes a few seconds. If it fails again, the log has the details.</source>
   <translation>Das dauert einige Sekunden. Wenn es wieder fehlschlägt, stehen Einzelheiten im Protokoll.</translation>
  </message>
  <message>
   <source>Restart it; answers in progress are lost. It may also recover by itself.</source>
   <translation>Starten Sie es neu; laufende Antworten gehen verloren. Es kann sich auch von selbst erholen.</translation>
  </message>
  <message>
   <source>The server is off. Start it so that programs on this computer can connect.</source>
   <translation>Der Server ist aus. Starten Sie ihn, damit Programme auf diesem Computer sich verbinden können.</translation>
  </message>
  <message>
   <source>Queued</source>
   <translation>In der Warteschlange</translation>
  </message>
  <message>
   <source>Reading the prompt</source>
   <translation>Liest die Eingabe</translation>
  </message>
  <message>
   <source>{percent} read. Requests wait until it is ready.</source>
   <translation>{percent} geladen. Anfragen warten, bis es bereit ist.</translation>
  </message>
  <message>
   <source>Choose another model below, or close other programs and try again.</source>
   <translation>Wählen Sie unten ein anderes Modell, oder schließen Sie andere Programme und versuchen Sie es erneut.</translation>
  </message>
  <message>
   <source>Choose another model below, or try again.</source>
   <translation>Wählen Sie unten ein anderes Modell, oder versuchen Sie es noch einmal.</translation>
  </message>
  <message>
   <source>No model is loaded. Choose one below; a request loads it too.</source>
   <translation>Es ist kein Modell geladen. Wählen Sie unten eines; auch eine Anfrage lädt es.</translation>
  </message>
  <message>
   <source>This takes a second or two.</source>
   <translation>Das dauert ein, zwei Sekunden.</translation>
  </message>
  <message>
   <source>Prompts are sent to {hosts}.</source>
   <translation>Fragen werden an {hosts} gesendet.</translation>
  </message>
  <message>
   <source>On this computer, at {hosts}.</source>
   <translation>Auf diesem Computer, unter {hosts}.</translation>
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
   <translation>Liest die Eingabe: {done}</translation>
  </message>
  <message>
   <source>Writing: {count} tokens so far</source>
   <translation>Schreibt: bisher {count} Token</translation>
  </message>
  <message>
   <source>{name} is working.</source>
   <translation>{name} arbeitet.</translation>
  </message>
  <message>
   <source>{name} runs on this computer.</source>
   <translation>{name} läuft auf diesem Computer.</translation>
  </message>
  <message>
   <source>Answering {count} requests</source>
   <translation>Beantwortet {count} Anfragen</translation>
  </message>
  <message>
   <source>calls tools</source>
   <translation>ruft Werkzeuge auf</translation>
  </message>
  <message>
   <source>thinks</source>
   <translation>denkt nach</translation>
  </message>
  <message>
   <source>reads images</source>
   <translation>liest Bilder</translation>
  </message>
  <message>
   <source>embeddings</source>
   <translation>Einbettungen</translation>
  </message>
  <message>
   <source>Its description can be read on its page, or once its terms are accepted.</source>
   <translation>Seine Beschreibung steht auf seiner Seite, hier erst, wenn seine Bedingungen angenommen sind.</translation>
  </message>
  <message>
   <source>The hub has not scanned all of its files yet.</source>
   <translation>Der Hub hat noch nicht alle Dateien geprüft.</translation>
  </message>
  <message>
   <source>Show files</source>
   <translation>Dateien zeigen</translation>
  </message>
  <message>
   <source>1 download</source>
   <translation>1 Download</translation>
  </message>
  <message>
   <source>{count} downloads</source>
   <translation>{count} Downloads</translation>
  </message>
  <message>
   <source>About this model</source>
   <translation>Über dieses Modell</translation>
  </message>
  <message>
   <source>The model's card</source>
   <translation>Modellkarte</translation>
  </message>
  <message>
   <source>not specified</source>
   <translation>nicht angegeben</translation>
  </message>
  <message>
   <source>The hub's scanners found nothing in its files.</source>
   <translation>Die Prüfprogramme des Hubs fanden nichts in den Dateien.</translation>
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
   <source>Look for new models</source>
   <translation>Nach neuen Modellen suchen</translation>
  </message>
  <message>
   <source>Asks the hub what is popular now and fits this computer.</source>
   <translation>Fragt den Hub, was gerade beliebt ist und auf diesen Computer passt.</translation>
  </message>
  <message>
   <source>For this computer</source>
   <translation>Für diesen Computer</translation>
  </message>
  <message>
   <source>Recommended models of each size, checked for this computer.</source>
   <translation>Empfohlene Modelle jeder Größe, für diesen Computer geprüft.</translation>
  </message>
  <message>
   <source>Recommended</source>
   <translation>Empfohlen</translation>
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
   <source>gated</source>
   <translation>zugangsbeschränkt</translation>
  </message>
  <message>
   <source>Licence: {name}</source>
   <translation>Lizenz: {name}</translation>
  </message>
  <message>
   <source>Back to the list</source>
   <translation>Zurück zur Liste</translation>
  </message>
  <message>
   <source>Cancel looking for new models</source>
   <translation>Suche nach neuen Modellen abbrechen</translation>
  </message>
  <message>
   <source>No repository with GGUF files found.</source>
   <translation>Kein Repository mit GGUF-Dateien gefunden.</translation>
  </message>
  <message>
   <source>Accept its terms on {address} first.</source>
   <translation>Nehmen Sie zuerst auf {address} die Bedingungen an.</translation>
  </message>
  <message>
   <source>Searching…</source>
   <translation>Suche …</translation>
  </message>
  <message>
   <source>Its authors give no description.</source>
   <translation>Die Autoren haben keine Beschreibung angegeben.</translation>
  </message>
  <message>
   <source>The hub's scanners found something in: {files}</source>
   <translation>Die Prüfprogramme des Hubs fanden etwas in: {files}</translation>
  </message>
  <message>
   <source>Results for “{text}”</source>
   <translation>Ergebnisse für „{text}“</translation>
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
   <source>Models on other servers. Your prompts leave this computer, unless the server runs on it.</source>
   <translation>Modelle auf anderen Servern. Ihre Fragen verlassen diesen Computer, außer der Server läuft auf ihm.</translation>
  </message>
  <message>
   <source>As the server reports</source>
   <translation>Wie vom Server gemeldet</translation>
  </message>
  <message>
   <source>Several addresses of the same model, separated by spaces, share the work.</source>
   <translation>Mehrere Adressen desselben Modells, durch Leerzeichen getrennt, teilen sich die Arbeit.</translation>
  </message>
  <message>
   <source>Asking the server for its models…</source>
   <translation>Der Server wird nach seinen Modellen gefragt …</translation>
  </message>
  <message>
   <source>Set on the command line, for this session only.</source>
   <translation>Auf der Befehlszeile angegeben, nur für diese Sitzung.</translation>
  </message>
  <message>
   <source>No remote engine yet. If vLLM, SGLang, llama-server or another server with the OpenAI API runs on a computer you trust, enter its address below.</source>
   <translation>Noch keine Engine auf einem anderen Server. Läuft vLLM, SGLang, llama-server oder ein anderer Server mit der OpenAI-API auf einem Computer, dem Sie vertrauen, tragen Sie unten seine Adresse ein.</translation>
  </message>
  <message>
   <source>Addresses</source>
   <translation>Adressen</translation>
  </message>
  <message>
   <source>The name programs use for it</source>
   <translation>Der Name, den Programme verwenden</translation>
  </message>
  <message>
   <source>Model on the server</source>
   <translation>Modell auf dem Server</translation>
  </message>
  <message>
   <source>Empty: the first model it lists</source>
   <translation>Leer: das erste Modell der Liste</translation>
  </message>
  <message>
   <source>Key</source>
   <translation>Schlüssel</translation>
  </message>
  <message>
   <source>If the server needs one</source>
   <translation>Falls der Server einen braucht</translation>
  </message>
  <message>
   <source>More options</source>
   <translation>Weitere Optionen</translation>
  </message>
  <message>
   <source>Test connection</source>
   <translation>Verbindung testen</translation>
  </message>
  <message>
   <source>Add</source>
   <translation>Hinzufügen</translation>
  </message>
  <message>
   <source>Its key is deleted too. The server itself is not changed.</source>
   <translation>Auch der Schlüssel wird gelöscht. Der Server selbst bleibt unverändert.</translation>
  </message>
  <message>
   <source>Remote</source>
   <translation>Andere Server</translation>
  </message>
  <message>
   <source>Yes</source>
   <translation>Ja</translation>
  </message>
  <message>
   <source>No</source>
   <translation>Nein</translation>
  </message>
  <message>
   <source>The server</source>
   <translation>Der Server</translation>
  </message>
  <message>
   <source>Moat</source>
   <translation>Moat</translation>
  </message>
  <message>
   <source>Add the engine</source>
   <translation>Die Engine hinzufügen</translation>
  </message>
  <message>
   <source>It works</source>
   <translation>Verbindung funktioniert</translation>
  </message>
  <message>
   <source>Context (tokens)</source>
   <translation>Kontext (Token)</translation>
  </message>
  <message>
   <source>Parameters (billions)</source>
   <translation>Parameter (Milliarden)</translation>
  </message>
  <message>
   <source>Reads images</source>
   <translation>Liest Bilder</translation>
  </message>
  <message>
   <source>Tool calls are parsed by</source>
   <translation>Werkzeugaufrufe werden ausgewertet von</translation>
  </message>
  <message>
   <source>Add an engine</source>
   <translation>Eine Engine hinzufügen</translation>
  </message>
  <message>
   <source>Not responding: {hosts}. The others take over.</source>
   <translation>Antwortet nicht: {hosts}. Die anderen übernehmen.</translation>
  </message>
  <message>
   <source>Connecting to {hosts}…</source>
   <translation>Verbindung zu {hosts} …</translation>
  </message>
  <message>
   <source>Confirm: remove {name}</source>
   <translation>Bestätigen: {name} entfernen</translation>
  </message>
  <message>
   <source>Give it a name.</source>
   <translation>Geben Sie ihr einen Namen.</translation>
  </message>
  <message>
   <source>A newer file is in {repo}: {size}, changed on {day} or before.</source>
   <translation>In {repo} liegt eine neuere Datei: {size}, geändert am {day} oder früher.</translation>
  </message>
  <message>
   <source>{repo} no longer has this file, or is not public any more.</source>
   <translation>{repo} hat diese Datei nicht mehr oder ist nicht mehr öffentlich.</translation>
  </message>
  <message>
   <source>No model is installed yet. Discover one, or add a file you already have.</source>
   <translation>Noch kein Modell installiert. Entdecken Sie eines, oder fügen Sie eine vorhandene Datei hinzu.</translation>
  </message>
  <message>
   <source>{count} models, {size}, in {path}</source>
   <translation>{count} Modelle, {size}, in {path}</translation>
  </message>
  <message>
   <source>Look for a newer file</source>
   <translation>Nach neuerer Datei suchen</translation>
  </message>
  <message>
   <source>Download the newer file</source>
   <translation>Neuere Datei herunterladen</translation>
  </message>
  <message>
   <source>Comparing it with the hub's file…</source>
   <translation>Wird mit der Datei des Hubs verglichen …</translation>
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
   <source>This removes it from the list. The file is not deleted.</source>
   <translation>Das entfernt es aus der Liste. Die Datei wird nicht gelöscht.</translation>
  </message>
  <message>
   <source>Add a GGUF file</source>
   <translation>GGUF-Datei hinzufügen</translation>
  </message>
  <message>
   <source>Discover models</source>
   <translation>Modelle entdecken</translation>
  </message>
  <message>
   <source>1 model, {size}, in {path}</source>
   <translation>1 Modell, {size}, in {path}</translation>
  </message>
  <message>
   <source>Use these models</source>
   <translation>Diese Modelle verwenden</translation>
  </message>
  <message>
   <source>Show differences</source>
   <translation>Unterschiede zeigen</translation>
  </message>
  <message>
   <source>Tool calls: {style}</source>
   <translation>Werkzeugaufrufe: {style}</translation>
  </message>
  <message>
   <source>This frees {size} on the disk.</source>
   <translation>Das gibt {size} auf der Festplatte frei.</translation>
  </message>
  <message>
   <source>Found in other programs</source>
   <translation>Bei anderen Programmen gefunden</translation>
  </message>
  <message>
   <source>This is the newest file of {repo}.</source>
   <translation>Das ist die neueste Datei von {repo}.</translation>
  </message>
  <message>
   <source>The file is damaged: {why}.</source>
   <translation>Die Datei ist beschädigt: {why}.</translation>
  </message>
  <message>
   <source>not in its template</source>
   <translation>nicht in seiner Vorlage</translation>
  </message>
  <message>
   <source>Reads images: {file}</source>
   <translation>Liest Bilder: {file}</translation>
  </message>
  <message>
   <source>Could not be loaded: {why}</source>
   <translation>Konnte nicht geladen werden: {why}</translation>
  </message>
  <message>
   <source>On this computer</source>
   <translation>Auf diesem Computer</translation>
  </message>
  <message>
   <source>Details of {name}</source>
   <translation>Details zu {name}</translation>
  </message>
  <message>
   <source>Use the models of {name}</source>
   <translation>Die Modelle von {name} verwenden</translation>
  </message>
  <message>
   <source>For conversations without one of their own.</source>
   <translation>Für Gespräche, die keinen eigenen mitbringen.</translation>
  </message>
  <message>
   <source>As the request or the model decides</source>
   <translation>Wie die Anfrage oder das Modell es bestimmt</translation>
  </message>
  <message>
   <source>Reset all</source>
   <translation>Alle zurücksetzen</translation>
  </message>
  <message>
   <source>Reset the settings of this model</source>
   <translation>Die Einstellungen dieses Modells zurücksetzen</translation>
  </message>
  <message>
   <source>Set for this model alone: {names}.</source>
   <translation>Nur für dieses Modell gesetzt: {names}.</translation>
  </message>
  <message>
   <source>Same as for other models. What you enter here takes precedence.</source>
   <translation>Wie bei anderen Modellen. Was Sie hier eingeben, hat Vorrang.</translation>
  </message>
  <message>
   <source>Default: {value}</source>
   <translation>Standard: {value}</translation>
  </message>
  <message>
   <source>All models: {value}</source>
   <translation>Alle Modelle: {value}</translation>
  </message>
  <message>
   <source>Settings of this model</source>
   <translation>Einstellungen dieses Modells</translation>
  </message>
  <message>
   <source>Accept the terms on the model's page, then paste a token with read access.</source>
   <translation>Nehmen Sie auf der Seite des Modells die Bedingungen an und fügen Sie dann ein Token mit Lesezugriff ein.</translation>
  </message>
  <message>
   <source>You are signed in to Hugging Face on this computer ({place}).</source>
   <translation>Sie sind auf diesem Computer bei Hugging Face angemeldet ({place}).</translation>
  </message>
  <message>
   <source>Downloads</source>
   <translation>Downloads</translation>
  </message>
  <message>
   <source>Nothing is being downloaded.</source>
   <translation>Nichts wird heruntergeladen.</translation>
  </message>
  <message>
   <source>Hugging Face token</source>
   <translation>Hugging-Face-Token</translation>
  </message>
  <message>
   <source>{name} was deleted; {size} freed.</source>
   <translation>{name} wurde gelöscht; {size} sind frei geworden.</translation>
  </message>
  <message>
   <source>{name} was removed from the list; its file was not deleted.</source>
   <translation>{name} wurde aus der Liste entfernt; die Datei wurde nicht gelöscht.</translation>
  </message>
  <message>
   <source>Asking the hub…</source>
   <translation>Der Hub wird gefragt …</translation>
  </message>
  <message>
   <source>Models (*.gguf)</source>
   <translation>Modelle (*.gguf)</translation>
  </message>
  <message>
   <source>Use the token of this computer</source>
   <translation>Das Token dieses Computers verwenden</translation>
  </message>
  <message>
   <source>Save the token</source>
   <translation>Token speichern</translation>
  </message>
  <message>
   <source>Remove the token</source>
   <translation>Token entfernen</translation>
  </message>
  <message>
   <source>Gated models</source>
   <translation>Modelle mit Zugangsbeschränkung</translation>
  </message>
  <message>
   <source>The token is saved with your secrets.</source>
   <translation>Das Token ist bei Ihren Zugangsdaten gespeichert.</translation>
  </message>
  <message>
   <source>The token was removed.</source>
   <translation>Das Token wurde entfernt.</translation>
  </message>
  <message>
   <source>Discover</source>
   <translation>Entdecken</translation>
  </message>
  <message>
   <source>Reading the files of {repo}…</source>
   <translation>Die Dateien von {repo} werden gelesen …</translation>
  </message>
  <message>
   <source>It does not connect to anything outside Moat.</source>
   <translation>Es verbindet sich mit nichts außerhalb von Moat.</translation>
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
   <source>Reload</source>
   <translation>Neu laden</translation>
  </message>
  <message>
   <source>It may also change and delete (PUT, PATCH, DELETE)</source>
   <translation>Es darf auch ändern und löschen (PUT, PATCH, DELETE)</translation>
  </message>
  <message>
   <source>Choose a file</source>
   <translation>Datei wählen</translation>
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
   <source>Flow to test</source>
   <translation>Ablauf zum Testen</translation>
  </message>
  <message>
   <source>List its tools</source>
   <translation>Werkzeuge auflisten</translation>
  </message>
  <message>
   <source>A question to test it with</source>
   <translation>Eine Frage zum Testen</translation>
  </message>
  <message>
   <source>the report</source>
   <translation>den Bericht</translation>
  </message>
  <message>
   <source>Running…</source>
   <translation>Läuft …</translation>
  </message>
  <message>
   <source>Stored unencrypted</source>
   <translation>Unverschlüsselt gespeichert</translation>
  </message>
  <message>
   <source>Stored in the keychain</source>
   <translation>Im Schlüsselbund gespeichert</translation>
  </message>
  <message>
   <source>Enable</source>
   <translation>Aktivieren</translation>
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
   <translation>Zustimmen und aktivieren</translation>
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
   <source>Test it</source>
   <translation>Testen</translation>
  </message>
  <message>
   <source>Sign out</source>
   <translation>Abmelden</translation>
  </message>
  <message>
   <source>Signing in…</source>
   <translation>Anmeldung läuft …</translation>
  </message>
  <message>
   <source>Its code runs in a sandbox.</source>
   <translation>Sein Code läuft in einer Sandbox.</translation>
  </message>
  <message>
   <source>It runs programs with your user rights, and Moat cannot monitor them: only enable plugins you trust.</source>
   <translation>Es führt Programme mit Ihren Benutzerrechten aus, und Moat kann sie nicht überwachen: Aktivieren Sie nur Plugins, denen Sie vertrauen.</translation>
  </message>
  <message>
   <source>The address of its API is not set yet.</source>
   <translation>Die Adresse seiner API ist noch nicht festgelegt.</translation>
  </message>
  <message>
   <source>needs your review</source>
   <translation>wartet auf Ihre Prüfung</translation>
  </message>
  <message>
   <source>enabled</source>
   <translation>aktiviert</translation>
  </message>
  <message>
   <source>disabled</source>
   <translation>deaktiviert</translation>
  </message>
  <message>
   <source>works, with warnings</source>
   <translation>arbeitet, mit Warnungen</translation>
  </message>
  <message>
   <source>partly broken</source>
   <translation>teilweise defekt</translation>
  </message>
  <message>
   <source>broken</source>
   <translation>defekt</translation>
  </message>
  <message>
   <source>Ask when risky</source>
   <translation>Bei Risiko fragen</translation>
  </message>
  <message>
   <source>Always allow</source>
   <translation>Immer erlauben</translation>
  </message>
  <message>
   <source>Never</source>
   <translation>Niemals</translation>
  </message>
  <message>
   <source>The log is empty.</source>
   <translation>Das Protokoll ist leer.</translation>
  </message>
  <message>
   <source>One per line</source>
   <translation>Einer pro Zeile</translation>
  </message>
  <message>
   <source>List its tools: starts its programs</source>
   <translation>Werkzeuge auflisten: startet seine Programme</translation>
  </message>
  <message>
   <source>Dry run</source>
   <translation>Trockenlauf</translation>
  </message>
  <message>
   <source>Mock</source>
   <translation>Probelauf</translation>
  </message>
  <message>
   <source>Run</source>
   <translation>Ausführen</translation>
  </message>
  <message>
   <source>It has no tools.</source>
   <translation>Es hat keine Werkzeuge.</translation>
  </message>
  <message>
   <source>Done.</source>
   <translation>Fertig.</translation>
  </message>
  <message>
   <source>Not set yet</source>
   <translation>Noch nicht gesetzt</translation>
  </message>
  <message>
   <source>Disable</source>
   <translation>Deaktivieren</translation>
  </message>
  <message>
   <source>Log of {name}</source>
   <translation>Protokoll von {name}</translation>
  </message>
  <message>
   <source>Dry run: shows the request, sends nothing</source>
   <translation>Trockenlauf: zeigt die Anfrage, sendet nichts</translation>
  </message>
  <message>
   <source>Mock: continues with made-up answers</source>
   <translation>Probelauf: macht mit erfundenen Antworten weiter</translation>
  </message>
  <message>
   <source>Run it for real</source>
   <translation>Wirklich ausführen</translation>
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
   <source>Since your review: {changes}.</source>
   <translation>Seit Ihrer Prüfung: {changes}.</translation>
  </message>
  <message>
   <source>It needs: {secrets}.</source>
   <translation>Es braucht: {secrets}.</translation>
  </message>
  <message>
   <source>Its servers offer to read: {names}</source>
   <translation>Seine Server bieten zum Lesen an: {names}</translation>
  </message>
  <message>
   <source>Its servers offer these prompts: {names}</source>
   <translation>Seine Server bieten diese Prompts an: {names}</translation>
  </message>
  <message>
   <source>Show the log of {name}</source>
   <translation>Protokoll von {name} zeigen</translation>
  </message>
  <message>
   <source>Back to version {old}</source>
   <translation>Zurück zu Version {old}</translation>
  </message>
  <message>
   <source>{name} (tool)</source>
   <translation>{name} (Werkzeug)</translation>
  </message>
  <message>
   <source>Import MCP servers</source>
   <translation>MCP-Server importieren</translation>
  </message>
  <message>
   <source>Adding one starts nothing. Look at it in the list above, then enable it.</source>
   <translation>Beim Hinzufügen wird nichts gestartet. Sehen Sie sich den Eintrag in der Liste oben an und aktivieren Sie ihn dann.</translation>
  </message>
  <message>
   <source>Hosts it may reach, such as en.wikipedia.org</source>
   <translation>Hosts, die er erreichen darf, etwa de.wikipedia.org</translation>
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
   <source>From the file of another program: mcp.json or claude_desktop_config.json</source>
   <translation>Aus der Datei eines anderen Programms: mcp.json oder claude_desktop_config.json</translation>
  </message>
  <message>
   <source>No plugins yet. A plugin is a folder with a manifest (plugin.json).</source>
   <translation>Noch keine Plugins. Ein Plugin ist ein Ordner mit einem Manifest (plugin.json).</translation>
  </message>
  <message>
   <source>Resume plugins</source>
   <translation>Plugins fortsetzen</translation>
  </message>
  <message>
   <source>Plugins are paused: none of them is used.</source>
   <translation>Plugins sind pausiert: Keines wird benutzt.</translation>
  </message>
  <message>
   <source>Add {name}</source>
   <translation>{name} hinzufügen</translation>
  </message>
  <message>
   <source>Added</source>
   <translation>Hinzugefügt</translation>
  </message>
  <message>
   <source>Reaches: {places}</source>
   <translation>Erreicht: {places}</translation>
  </message>
  <message>
   <source>Common MCP servers</source>
   <translation>Gebräuchliche MCP-Server</translation>
  </message>
  <message>
   <source>Plugins</source>
   <translation>Plugins</translation>
  </message>
  <message>
   <source>Hosts that {name} may reach</source>
   <translation>Hosts, die {name} erreichen darf</translation>
  </message>
  <message>
   <source>{client} wants to use this plugin for the first time.</source>
   <translation>{client} möchte dieses Plugin zum ersten Mal benutzen.</translation>
  </message>
  <message>
   <source>Denied automatically in {time}</source>
   <translation>Automatische Ablehnung in {time}</translation>
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
   <source>Choose</source>
   <translation>Auswählen</translation>
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
   <source>Allow once</source>
   <translation>Einmal erlauben</translation>
  </message>
  <message>
   <source>Deny</source>
   <translation>Ablehnen</translation>
  </message>
  <message>
   <source>Request to be sent</source>
   <translation>Zu sendende Anfrage</translation>
  </message>
  <message>
   <source>It only reads data.</source>
   <translation>Es liest nur Daten.</translation>
  </message>
  <message>
   <source>It makes changes. Review the request before you allow it.</source>
   <translation>Es nimmt Änderungen vor. Prüfen Sie die Anfrage, bevor Sie sie erlauben.</translation>
  </message>
  <message>
   <source>It may cause damage that cannot be undone.</source>
   <translation>Es kann Schaden anrichten, der sich nicht rückgängig machen lässt.</translation>
  </message>
  <message>
   <source>a number without thousands separators, such as 10000</source>
   <translation>eine Zahl ohne Tausendertrennzeichen, etwa 10000</translation>
  </message>
  <message>
   <source>{plugin} needs more information</source>
   <translation>{plugin} braucht weitere Angaben</translation>
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
   <source>{name} must be {what}.</source>
   <translation>{name} muss {what} sein.</translation>
  </message>
  <message>
   <source>{text} is not possible here. Enter a number from {least} to {most}.</source>
   <translation>{text} ist hier nicht möglich. Geben Sie eine Zahl von {least} bis {most} ein.</translation>
  </message>
  <message>
   <source>Check for updates</source>
   <translation>Nach Updates suchen</translation>
  </message>
  <message>
   <source>Licences</source>
   <translation>Lizenzen</translation>
  </message>
  <message>
   <source>Moat is up to date.</source>
   <translation>Moat ist auf dem neuesten Stand.</translation>
  </message>
  <message>
   <source>To check for updates, turn on the daily check under Updates first.</source>
   <translation>Um nach Updates zu suchen, schalten Sie zuerst unter „Updates“ die tägliche Suche ein.</translation>
  </message>
  <message>
   <source>Text of the licence</source>
   <translation>Text der Lizenz</translation>
  </message>
  <message>
   <source>An empty field</source>
   <translation>Ein leeres Feld</translation>
  </message>
  <message>
   <source>No setting found.</source>
   <translation>Keine Einstellung gefunden.</translation>
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
   <source>About Moat</source>
   <translation>Über Moat</translation>
  </message>
  <message>
   <source>Other computers can connect without encryption: the key and all texts can be read on the network. Use this only on a network you trust.</source>
   <translation>Andere Computer können sich unverschlüsselt verbinden: Der Schlüssel und alle Texte sind im Netzwerk lesbar. Nutzen Sie das nur in einem Netzwerk, dem Sie vertrauen.</translation>
  </message>
  <message>
   <source>The settings could not be exported: {why}.</source>
   <translation>Die Einstellungen konnten nicht exportiert werden: {why}.</translation>
  </message>
  <message>
   <source>Version {version}</source>
   <translation>Version {version}</translation>
  </message>
  <message>
   <source>Version {version} is available: {page}</source>
   <translation>Version {version} ist verfügbar: {page}</translation>
  </message>
  <message>
   <source>This file contains no Moat settings.</source>
   <translation>Diese Datei enthält keine Moat-Einstellungen.</translation>
  </message>
  <message>
   <source>Settings</source>
   <translation>Einstellungen</translation>
  </message>
  <message>
   <source>Reset “{name}”</source>
   <translation>„{name}“ zurücksetzen</translation>
  </message>
  <message>
   <source>The language changes the next time Moat starts.</source>
   <translation>Die Sprache ändert sich beim nächsten Start von Moat.</translation>
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
   <translation>Plugins pausieren</translation>
  </message>
  <message>
   <source>Download failed</source>
   <translation>Download fehlgeschlagen</translation>
  </message>
  <message>
   <source>Something went wrong</source>
   <translation>Etwas ist schiefgegangen</translation>
  </message>
  <message>
   <source>Go to a page, chat, model or setting</source>
   <translation>Zu Seite, Chat, Modell oder Einstellung gehen</translation>
  </message>
  <message>
   <source>The pages, in the order of the sidebar</source>
   <translation>Die Seiten, in der Reihenfolge der Seitenleiste</translation>
  </message>
  <message>
   <source>Send the message</source>
   <translation>Nachricht senden</translation>
  </message>
  <message>
   <source>New line in the message</source>
   <translation>Neue Zeile in der Nachricht</translation>
  </message>
  <message>
   <source>Stop the answer, close a message or a panel</source>
   <translation>Antwort stoppen, Meldung oder Seitenleiste schließen</translation>
  </message>
  <message>
   <source>Next or previous control</source>
   <translation>Nächstes oder voriges Bedienelement</translation>
  </message>
  <message>
   <source>Press the button</source>
   <translation>Die Schaltfläche drücken</translation>
  </message>
  <message>
   <source>This list</source>
   <translation>Diese Liste</translation>
  </message>
  <message>
   <source>Keyboard shortcuts</source>
   <translation>Tastenkürzel</translation>
  </message>
  <message>
   <source>Go to</source>
   <translation>Gehe zu</translation>
  </message>
  <message>
   <source>Places found</source>
   <translation>Gefundene Ziele</translation>
  </message>
  <message>
   <source>Nothing found.</source>
   <translation>Nichts gefunden.</translation>
  </message>
  <message>
   <source>Page</source>
   <translation>Seite</translation>
  </message>
  <message>
   <source>Use this model</source>
   <translation>Dieses Modell verwenden</translation>
  </message>
  <message>
   <source>Chat</source>
   <translation>Chat</translation>
  </message>
  <message>
   <source>Run language models on this computer and use them in your programs.</source>
   <translation>Sprachmodelle auf diesem Computer ausführen und in Ihren Programmen benutzen.</translation>
  </message>
  <message>
   <source>Give this address to OpenBB Workspace, an editor or another program, and ask it a question. Or begin with a chat here.</source>
   <translation>Geben Sie diese Adresse OpenBB Workspace, einem Editor oder einem anderen Programm und stellen Sie dort eine Frage. Oder beginnen Sie mit einem Chat hier.</translation>
  </message>
  <message>
   <source>Start right away with the small starter model</source>
   <translation>Sofort mit dem kleinen Startmodell loslegen</translation>
  </message>
  <message>
   <source>Use a model that is already on this computer</source>
   <translation>Ein Modell verwenden, das schon auf diesem Computer ist</translation>
  </message>
  <message>
   <source>Start Moat when I log in</source>
   <translation>Moat bei der Anmeldung starten</translation>
  </message>
  <message>
   <source>Use an existing folder…</source>
   <translation>Vorhandenen Ordner verwenden …</translation>
  </message>
  <message>
   <source>Get started</source>
   <translation>Los geht’s</translation>
  </message>
  <message>
   <source>Download {name} ({size}), recommended for this computer</source>
   <translation>{name} herunterladen ({size}), empfohlen für diesen Computer</translation>
  </message>
  <message>
   <source>Done</source>
   <translation>Fertig</translation>
  </message>
  <message>
   <source>Model on this computer</source>
   <translation>Modell auf diesem Computer</translation>
  </message>
  <message>
   <source>Connect a program</source>
   <translation>Ein Programm verbinden</translation>
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
   <source>Which model do you want to use?</source>
   <translation>Welches Modell möchten Sie verwenden?</translation>
  </message>
  <message>
   <source>Welcome to Moat</source>
   <translation>Willkommen bei Moat</translation>
  </message>
  <message>
   <source>Model folder</source>
   <translation>Modellordner</translation>
  </message>
  <message>
   <source>This desktop shows no tray icons. Closing this window quits Moat.</source>
   <translation>Dieser Desktop zeigt keine Symbole im Infobereich. Das Schließen dieses Fensters beendet Moat.</translation>
  </message>
  <message>
   <source>Moat keeps running in the tray. To quit, use the menu of its icon.</source>
   <translation>Moat läuft im Infobereich weiter. Zum Beenden benutzen Sie das Menü des Symbols.</translation>
  </message>
  <message>
   <source>Enter this address in OpenBB, an OpenAI client or CopilotKit.</source>
   <translation>Geben Sie diese Adresse in OpenBB, einem OpenAI-Programm oder CopilotKit ein.</translation>
  </message>
  <message>
   <source>No model is installed yet. Put a GGUF file into the model folder.</source>
   <translation>Noch kein Modell installiert. Legen Sie eine GGUF-Datei in den Modellordner.</translation>
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
   <source>If it is taken, the next free port is used.</source>
   <translation>Ist er belegt, wird der nächste freie Port benutzt.</translation>
  </message>
  <message>
   <source>Who may connect</source>
   <translation>Wer sich verbinden darf</translation>
  </message>
  <message>
   <source>Other computers connect by HTTPS and always need an access key.</source>
   <translation>Andere Computer verbinden sich über HTTPS und brauchen immer einen Zugangsschlüssel.</translation>
  </message>
  <message>
   <source>This computer only</source>
   <translation>Nur dieser Computer</translation>
  </message>
  <message>
   <source>Any computer on the network</source>
   <translation>Jeder Computer im Netzwerk</translation>
  </message>
  <message>
   <source>Require an access key</source>
   <translation>Zugangsschlüssel verlangen</translation>
  </message>
  <message>
   <source>Clients must send it as a bearer token. Always required when any computer on the network may connect.</source>
   <translation>Programme müssen ihn als Bearer-Token senden. Immer nötig, wenn sich jeder Computer im Netzwerk verbinden darf.</translation>
  </message>
  <message>
   <source>Web pages that may connect</source>
   <translation>Webseiten, die sich verbinden dürfen</translation>
  </message>
  <message>
   <source>Exact origins, for example https://pro.openbb.co.</source>
   <translation>Genaue Adressen (Origins), zum Beispiel https://pro.openbb.co.</translation>
  </message>
  <message>
   <source>Extra host names</source>
   <translation>Weitere Hostnamen</translation>
  </message>
  <message>
   <source>Names besides localhost that clients may use, with or without the port.</source>
   <translation>Namen außer localhost, die Programme verwenden dürfen, mit oder ohne Port.</translation>
  </message>
  <message>
   <source>Reverse proxies</source>
   <translation>Reverse-Proxys</translation>
  </message>
  <message>
   <source>Addresses or networks, for example 127.0.0.1 or 10.0.0.0/8. Moat trusts what they report about the client (X-Forwarded-For, X-Forwarded-Proto). Requires the key.</source>
   <translation>Adressen oder Netze, zum Beispiel 127.0.0.1 oder 10.0.0.0/8. Ihren Angaben über das Programm (X-Forwarded-For, X-Forwarded-Proto) wird vertraut. Setzt den Zugangsschlüssel voraus.</translation>
  </message>
  <message>
   <source>Allow connections without encryption</source>
   <translation>Unverschlüsselte Verbindungen erlauben</translation>
  </message>
  <message>
   <source>Off: other computers must use HTTPS. On: the key and all texts travel unencrypted, and anyone who can listen on that network can read and use them.</source>
   <translation>Aus: Andere Computer müssen HTTPS benutzen. An: Der Schlüssel und alle Texte werden unverschlüsselt übertragen; wer im Netzwerk mithört, kann sie lesen und benutzen.</translation>
  </message>
  <message>
   <source>HTTPS</source>
   <translation>HTTPS</translation>
  </message>
  <message>
   <source>For Safari; always on when other computers may connect. The Connect page shows the certificate to trust.</source>
   <translation>Für Safari; immer an, wenn sich andere Computer verbinden dürfen. Die Seite „Verbinden“ zeigt das Zertifikat, dem Sie vertrauen müssen.</translation>
  </message>
  <message>
   <source>Certificate (PEM file)</source>
   <translation>Zertifikat (PEM-Datei)</translation>
  </message>
  <message>
   <source>With its chain. Empty: one that Moat makes itself.</source>
   <translation>Mit seiner Kette. Leer: eines, das Moat selbst erzeugt.</translation>
  </message>
  <message>
   <source>Key of the certificate (PEM file)</source>
   <translation>Schlüssel des Zertifikats (PEM-Datei)</translation>
  </message>
  <message>
   <source>HTTPS port</source>
   <translation>HTTPS-Port</translation>
  </message>
  <message>
   <source>Maximum request size (MB)</source>
   <translation>Maximale Anfragegröße (MB)</translation>
  </message>
  <message>
   <source>Maximum concurrent requests</source>
   <translation>Maximal gleichzeitige Anfragen</translation>
  </message>
  <message>
   <source>Start the server with Moat</source>
   <translation>Server mit Moat starten</translation>
  </message>
  <message>
   <source>Log format</source>
   <translation>Protokollformat</translation>
  </message>
  <message>
   <source>'json' writes an object in each line, for those who collect logs.</source>
   <translation>'json' schreibt in jede Zeile ein Objekt, für Programme, die Protokolle sammeln.</translation>
  </message>
  <message>
   <source>JSON</source>
   <translation>JSON</translation>
  </message>
  <message>
   <source>The default model. Empty: the starter model.</source>
   <translation>Das Standardmodell. Leer: das Startmodell.</translation>
  </message>
  <message>
   <source>Load the model when Moat starts</source>
   <translation>Beim Start von Moat das Modell laden</translation>
  </message>
  <message>
   <source>0: as large as the model allows.</source>
   <translation>0: so groß, wie das Modell erlaubt.</translation>
  </message>
  <message>
   <source>0: all cores.</source>
   <translation>0: alle Kerne.</translation>
  </message>
  <message>
   <source>-1: as many as fit.</source>
   <translation>-1: so viele wie passen.</translation>
  </message>
  <message>
   <source>Full (F16)</source>
   <translation>Voll (F16)</translation>
  </message>
  <message>
   <source>Half the memory (Q8_0)</source>
   <translation>Halber Speicher (Q8_0)</translation>
  </message>
  <message>
   <source>A quarter of the memory (Q4_0)</source>
   <translation>Ein Viertel des Speichers (Q4_0)</translation>
  </message>
  <message>
   <source>For example 3 and 1: three quarters on the first. Empty: by free memory.</source>
   <translation>Zum Beispiel 3 und 1: drei Viertel auf der ersten. Leer: nach freiem Speicher.</translation>
  </message>
  <message>
   <source>The only GPU to use</source>
   <translation>Die einzige Grafikkarte, die benutzt wird</translation>
  </message>
  <message>
   <source>0: the first. -1: all of them.</source>
   <translation>0: die erste. -1: alle.</translation>
  </message>
  <message>
   <source>Layers whose experts stay on the processor</source>
   <translation>Schichten, deren Experten auf dem Prozessor bleiben</translation>
  </message>
  <message>
   <source>For mixture-of-experts models on small GPUs. -1: as many as needed, 999: all.</source>
   <translation>Für Mixture-of-Experts-Modelle auf kleinen Grafikkarten. -1: so viele wie nötig, 999: alle.</translation>
  </message>
  <message>
   <source>Cache on the GPU</source>
   <translation>Cache auf der Grafikkarte</translation>
  </message>
  <message>
   <source>Off: more layers fit, and it is slower.</source>
   <translation>Aus: mehr Schichten passen, und es ist langsamer.</translation>
  </message>
  <message>
   <source>Auto</source>
   <translation>Automatisch</translation>
  </message>
  <message>
   <source>Try out and measure new models</source>
   <translation>Neue Modelle erproben und messen</translation>
  </message>
  <message>
   <source>When idle: a short test of whether the model can plan, then a few seconds to choose flash attention, batch size and threads where these are automatic. Used from the next start.</source>
   <translation>Wenn Moat nichts zu tun hat: ein kurzer Test, ob das Modell planen kann, dann einige Sekunden, um Flash-Attention, Batch-Größe und Threads zu wählen, soweit sie auf „Automatisch“ stehen. Gilt ab dem nächsten Start.</translation>
  </message>
  <message>
   <source>Choose tokens on the GPU</source>
   <translation>Token auf der Grafikkarte wählen</translation>
  </message>
  <message>
   <source>Auto: where several answers are made at once.</source>
   <translation>Automatisch: wo mehrere Antworten zugleich entstehen.</translation>
  </message>
  <message>
   <source>Prompt cache in memory (MB)</source>
   <translation>Prompt-Cache im Arbeitsspeicher (MB)</translation>
  </message>
  <message>
   <source>Prompt cache on disk (MB)</source>
   <translation>Prompt-Cache auf der Festplatte (MB)</translation>
  </message>
  <message>
   <source>Long conversations need not be read again after a restart. 0: off.</source>
   <translation>Lange Gespräche müssen nach einem Neustart nicht neu gelesen werden. 0: aus.</translation>
  </message>
  <message>
   <source>Prompt-lookup speculative decoding</source>
   <translation>Spekulatives Decoding aus dem Prompt (Prompt-Lookup)</translation>
  </message>
  <message>
   <source>Speeds up answers that quote the prompt or contain tables.</source>
   <translation>Beschleunigt Antworten, die den Prompt zitieren oder Tabellen enthalten.</translation>
  </message>
  <message>
   <source>Draft model</source>
   <translation>Entwurfsmodell</translation>
  </message>
  <message>
   <source>A small GGUF file of the same model family for speculative decoding. Empty: none.</source>
   <translation>Eine kleine GGUF-Datei derselben Modellfamilie für spekulatives Decoding. Leer: keine.</translation>
  </message>
  <message>
   <source>LoRA adapters (GGUF files)</source>
   <translation>LoRA-Adapter (GGUF-Dateien)</translation>
  </message>
  <message>
   <source>Tool description format</source>
   <translation>Format der Werkzeugbeschreibung</translation>
  </message>
  <message>
   <source>For models without a tool format of their own. TypeScript is shorter.</source>
   <translation>Für Modelle ohne eigenes Werkzeugformat. TypeScript ist kürzer.</translation>
  </message>
  <message>
   <source>TypeScript</source>
   <translation>TypeScript</translation>
  </message>
  <message>
   <source>Maximum queued requests</source>
   <translation>Maximal wartende Anfragen</translation>
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
   <source>Additional model folders</source>
   <translation>Weitere Modellordner</translation>
  </message>
  <message>
   <source>Keep downloads in Hugging Face's cache</source>
   <translation>Downloads im Cache von Hugging Face ablegen</translation>
  </message>
  <message>
   <source>llama.cpp, vLLM and transformers find them there and use the same bytes.</source>
   <translation>llama.cpp, vLLM und transformers finden sie dort und nutzen dieselben Bytes.</translation>
  </message>
  <message>
   <source>Models used in place</source>
   <translation>Modelle, die an ihrem Ort bleiben</translation>
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
   <source>Settings of single models</source>
   <translation>Einstellungen einzelner Modelle</translation>
  </message>
  <message>
   <source>The details of a model on the Models page change them.</source>
   <translation>Die Details eines Modells auf der Seite Modelle ändern sie.</translation>
  </message>
  <message>
   <source>Remote engines</source>
   <translation>Engines auf anderen Servern</translation>
  </message>
  <message>
   <source>name=http://host:port/v1 for each. The Models page adds and tests them.</source>
   <translation>name=http://host:port/v1 für jede. Die Seite „Modelle“ fügt sie hinzu und testet sie.</translation>
  </message>
  <message>
   <source>Copilots</source>
   <translation>Copiloten</translation>
  </message>
  <message>
   <source>Maximum answer length for pages (tokens)</source>
   <translation>Maximale Antwortlänge für Seiten (Token)</translation>
  </message>
  <message>
   <source>Remote agents</source>
   <translation>Agenten auf anderen Servern</translation>
  </message>
  <message>
   <source>'copilotkit URL' for a CopilotKit endpoint, 'langgraph URL' for a server.</source>
   <translation>'copilotkit URL' für CopilotKit, 'langgraph URL' für einen Server.</translation>
  </message>
  <message>
   <source>Save conversations with pages</source>
   <translation>Gespräche mit Seiten speichern</translation>
  </message>
  <message>
   <source>Off: conversations are deleted when Moat quits, those saved before too.</source>
   <translation>Aus: Gespräche werden beim Beenden von Moat gelöscht, auch früher gespeicherte.</translation>
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
   <source>No plugin is used while paused. Which ones are enabled does not change.</source>
   <translation>Solange Plugins pausiert sind, wird keines benutzt. Welche aktiviert sind, ändert sich nicht.</translation>
  </message>
  <message>
   <source>When a plugin answers</source>
   <translation>Wann ein Plugin antwortet</translation>
  </message>
  <message>
   <source>Only when named: the question begins with @plugin.</source>
   <translation>Nur wenn es genannt wird: Die Frage beginnt mit @plugin.</translation>
  </message>
  <message>
   <source>Only when named</source>
   <translation>Nur wenn es genannt wird</translation>
  </message>
  <message>
   <source>Window</source>
   <translation>Fenster</translation>
  </message>
  <message>
   <source>Theme</source>
   <translation>Design</translation>
  </message>
  <message>
   <source>Same as the system</source>
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
   <translation>Beim Schließen des Fensters im Infobereich weiterlaufen</translation>
  </message>
  <message>
   <source>Network</source>
   <translation>Netzwerk</translation>
  </message>
  <message>
   <source>Offline</source>
   <translation>Offline</translation>
  </message>
  <message>
   <source>Block every outgoing connection.</source>
   <translation>Jede ausgehende Verbindung blockieren.</translation>
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
   <source>Domains of your own network</source>
   <translation>Domains Ihres eigenen Netzes</translation>
  </message>
  <message>
   <source>Names in these domains may resolve to private addresses; all others are blocked.</source>
   <translation>Namen in diesen Domains dürfen auf private Adressen zeigen; alle anderen werden blockiert.</translation>
  </message>
  <message>
   <source>Hosts files may be downloaded from</source>
   <translation>Hosts, von denen Dateien geladen werden dürfen</translation>
  </message>
  <message>
   <source>For files that a dashboard sends as links, for example https://files.example.com. Links to other hosts are not opened.</source>
   <translation>Für Dateien, die ein Dashboard als Links schickt, zum Beispiel https://files.example.com. Links zu anderen Servern werden nicht geöffnet.</translation>
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
   <translation>Speicher-Hosts des Hubs</translation>
  </message>
  <message>
   <source>Other domains a mirror may redirect downloads to.</source>
   <translation>Weitere Domains, auf die ein Spiegel Downloads umleiten darf.</translation>
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
   <translation>Datenschutz</translation>
  </message>
  <message>
   <source>Write prompts to the log</source>
   <translation>Fragen ins Protokoll schreiben</translation>
  </message>
  <message>
   <source>Turn on only to find a problem.</source>
   <translation>Nur zur Fehlersuche einschalten.</translation>
  </message>
  <message>
   <source>Updates</source>
   <translation>Updates</translation>
  </message>
  <message>
   <source>Check for updates once a day</source>
   <translation>Einmal täglich nach Updates suchen</translation>
  </message>
  <message>
   <source>Moat only notifies you. Nothing is downloaded or installed automatically.</source>
   <translation>Moat meldet es nur. Nichts wird automatisch geladen oder installiert.</translation>
  </message>
  <message>
   <source>Update feed</source>
   <translation>Update-Adresse</translation>
  </message>
  <message>
   <source>Empty: the address built into this package.</source>
   <translation>Leer: die Adresse aus diesem Paket.</translation>
  </message>
  <message>
   <source>Update signing key</source>
   <translation>Signaturschlüssel der Updates</translation>
  </message>
  <message>
   <source>Ed25519 public key in base64. Updates without its signature are ignored.</source>
   <translation>Öffentlicher Ed25519-Schlüssel in Base64. Updates ohne seine Signatur werden ignoriert.</translation>
  </message>
  <message>
   <source>Address of release files</source>
   <translation>Adresse der veröffentlichten Dateien</translation>
  </message>
  <message>
   <source>Support for graphics cards is fetched from here, when you ask for it. Empty: the folder of the update feed.</source>
   <translation>Von hier wird Unterstützung für Grafikkarten geladen, wenn Sie danach fragen. Leer: der Ordner der Update-Adresse.</translation>
  </message>
  <message>
   <source>0: always the likeliest token.</source>
   <translation>0: immer das wahrscheinlichste Token.</translation>
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
   <translation>Strafe für Wiederholungen</translation>
  </message>
  <message>
   <source>Thinking</source>
   <translation>Nachdenken</translation>
  </message>
  <message>
   <source>For models whose template can switch it.</source>
   <translation>Für Modelle, deren Vorlage es schalten kann.</translation>
  </message>
 </context>
 <context>
  <name>server</name>
  <message>
   <source>Starting at login could not be changed: {0}.</source>
   <translation>Der Start bei der Anmeldung ließ sich nicht ändern: {0}.</translation>
  </message>
  <message>
   <source>The chat could not be saved: {0}.</source>
   <translation>Der Chat konnte nicht gespeichert werden: {0}.</translation>
  </message>
  <message>
   <source>The server sent something this window does not understand.</source>
   <translation>Der Server hat etwas gesendet, das dieses Fenster nicht versteht.</translation>
  </message>
  <message>
   <source>Something went wrong inside Moat.</source>
   <translation>In Moat ging etwas schief.</translation>
  </message>
  <message>
   <source>The server answered with status {0}.</source>
   <translation>Der Server antwortete mit Status {0}.</translation>
  </message>
  <message>
   <source>The answer was interrupted.</source>
   <translation>Die Antwort wurde unterbrochen.</translation>
  </message>
  <message>
   <source>OpenBB's protocol does not support images. Choose another protocol in the options.</source>
   <translation>Die Schnittstelle von OpenBB unterstützt keine Bilder. Wählen Sie in den Optionen eine andere.</translation>
  </message>
  <message>
   <source>The server stopped: {0}</source>
   <translation>Der Server hat sich beendet: {0}</translation>
  </message>
  <message>
   <source>The server stopped unexpectedly.</source>
   <translation>Der Server hat sich unerwartet beendet.</translation>
  </message>
  <message>
   <source>The server is running but does not respond.</source>
   <translation>Der Server läuft, reagiert aber nicht.</translation>
  </message>
  <message>
   <source>The server did not respond and was stopped.</source>
   <translation>Der Server reagierte nicht und wurde beendet.</translation>
  </message>
  <message>
   <source>The server was stopped by the system or another program.</source>
   <translation>Der Server wurde vom System oder einem anderen Programm beendet.</translation>
  </message>
  <message>
   <source>{0} It is being restarted.</source>
   <translation>{0} Ein Neustart läuft.</translation>
  </message>
  <message>
   <source>The server cannot be started. Install Moat again.</source>
   <translation>Der Server kann nicht gestartet werden. Installieren Sie Moat erneut.</translation>
  </message>
  <message>
   <source>The server did not respond in time.</source>
   <translation>Der Server reagierte nicht rechtzeitig.</translation>
  </message>
  <message>
   <source>Deleting '{0}' would also delete {1}: delete that model first.</source>
   <translation>Mit „{0}“ würde auch {1} gelöscht: Löschen Sie zuerst dieses Modell.</translation>
  </message>
  <message>
   <source>The download was cancelled.</source>
   <translation>Der Download wurde abgebrochen.</translation>
  </message>
  <message>
   <source>The engine does not support this: {0}.</source>
   <translation>Das unterstützt die Engine nicht: {0}.</translation>
  </message>
  <message>
   <source>Only a model that runs on this computer can be measured.</source>
   <translation>Nur ein Modell, das auf diesem Computer läuft, lässt sich messen.</translation>
  </message>
  <message>
   <source>This model cannot be measured.</source>
   <translation>Dieses Modell lässt sich nicht messen.</translation>
  </message>
  <message>
   <source>The settings file could not be read; it was saved as {0}.</source>
   <translation>Die Einstellungsdatei konnte nicht gelesen werden; sie wurde als {0} gesichert.</translation>
  </message>
  <message>
   <source>The setting {0} was not valid and was reset to its default.</source>
   <translation>Die Einstellung {0} war ungültig und wurde zurückgesetzt.</translation>
  </message>
  <message>
   <source>{0}: there is no {1}. There are: {2}.</source>
   <translation>{0}: Es gibt kein {1}. Es gibt: {2}.</translation>
  </message>
  <message>
   <source>Part of the setting {0} was not valid and was ignored.</source>
   <translation>Ein Teil der Einstellung {0} war ungültig und wurde ignoriert.</translation>
  </message>
  <message>
   <source>{0} decides the setting {1}.</source>
   <translation>{0} bestimmt die Einstellung {1}.</translation>
  </message>
  <message>
   <source>The settings could not be saved: {0}.</source>
   <translation>Die Einstellungen konnten nicht gespeichert werden: {0}.</translation>
  </message>
  <message>
   <source>{0} begins like JSON, but is none.</source>
   <translation>{0} beginnt wie JSON, ist aber keines.</translation>
  </message>
  <message>
   <source>The setting {0} has an invalid value: {1}</source>
   <translation>Die Einstellung {0} hat einen ungültigen Wert: {1}</translation>
  </message>
  <message>
   <source>{0} has an invalid value: {1}</source>
   <translation>{0} hat einen ungültigen Wert: {1}</translation>
  </message>
  <message>
   <source>Support for {0} is in place. The graphics card is used from now on.</source>
   <translation>Unterstützung für {0} ist eingerichtet. Die Grafikkarte wird ab jetzt genutzt.</translation>
  </message>
  <message>
   <source>Support for {0} is in place, but cannot be used. The Hardware page says why.</source>
   <translation>Unterstützung für {0} ist eingerichtet, kann aber nicht genutzt werden. Die Seite „Hardware“ nennt den Grund.</translation>
  </message>
  <message>
   <source>Support for {0} is in place, and finds no card that it can use.</source>
   <translation>Unterstützung für {0} ist eingerichtet und findet keine Karte, die sie nutzen kann.</translation>
  </message>
  <message>
   <source>{0} is too big to read.</source>
   <translation>{0} ist zu groß, um gelesen zu werden.</translation>
  </message>
  <message>
   <source>{0} could not be read: {1}.</source>
   <translation>{0} konnte nicht gelesen werden: {1}.</translation>
  </message>
  <message>
   <source>There is no model '{0}' here.</source>
   <translation>Hier gibt es kein Modell „{0}“.</translation>
  </message>
  <message>
   <source>There is no file {0}.</source>
   <translation>Es gibt keine Datei {0}.</translation>
  </message>
  <message>
   <source>{0} did not answer after the computer slept and was loaded again.</source>
   <translation>{0} antwortete nicht mehr, nachdem der Computer geschlafen hatte, und wurde neu geladen.</translation>
  </message>
  <message>
   <source>It does not respond.</source>
   <translation>Es reagiert nicht.</translation>
  </message>
  <message>
   <source>A model on this machine is called '{0}'.</source>
   <translation>Ein Modell auf diesem Rechner heißt „{0}“.</translation>
  </message>
  <message>
   <source>'{0}' was set on the command line for this session.</source>
   <translation>„{0}“ wurde auf der Befehlszeile für diese Sitzung angegeben.</translation>
  </message>
  <message>
   <source>There is no engine '{0}' in the settings.</source>
   <translation>In den Einstellungen gibt es keine Engine „{0}“.</translation>
  </message>
  <message>
   <source>The variable {0} would be the key of '{1}' and of '{2}'. Rename one of them.</source>
   <translation>Die Variable {0} wäre der Schlüssel von „{1}“ und von „{2}“. Benennen Sie eine der Engines um.</translation>
  </message>
  <message>
   <source>The engine at {0} does not answer.</source>
   <translation>Die Engine auf {0} antwortet nicht.</translation>
  </message>
  <message>
   <source>No support for graphics cards is missing on this computer.</source>
   <translation>Auf diesem Computer fehlt keine Unterstützung für Grafikkarten.</translation>
  </message>
  <message>
   <source>The list is for engine {0}; this one is {1}.</source>
   <translation>Die Liste ist für Engine {0}; diese hier ist {1}.</translation>
  </message>
  <message>
   <source>The address of release files must begin with https://.</source>
   <translation>Die Adresse der veröffentlichten Dateien muss mit https:// beginnen.</translation>
  </message>
  <message>
   <source>No support for {0} is published for this system and engine {1}.</source>
   <translation>Für dieses System und Engine {1} ist keine Unterstützung für {0} veröffentlicht.</translation>
  </message>
  <message>
   <source>{0} is damaged and was deleted. Download it again.</source>
   <translation>{0} ist beschädigt und wurde gelöscht. Laden Sie die Datei erneut herunter.</translation>
  </message>
  <message>
   <source>The connection to {0} broke. Check it and try again.</source>
   <translation>Die Verbindung zu {0} ist abgebrochen. Prüfen Sie sie, und versuchen Sie es erneut.</translation>
  </message>
  <message>
   <source>{0} holds no library for {1} and engine {2}.</source>
   <translation>{0} enthält keine Bibliothek für {1} und Engine {2}.</translation>
  </message>
  <message>
   <source>{0} refuses the file: {1}.</source>
   <translation>{0} verweigert die Datei: {1}.</translation>
  </message>
  <message>
   <source>{0} fails: {1}.</source>
   <translation>{0} schlägt fehl: {1}.</translation>
  </message>
  <message>
   <source>A key needs a name of 1 to {0} visible characters.</source>
   <translation>Ein Schlüssel braucht einen Namen mit 1 bis {0} sichtbaren Zeichen.</translation>
  </message>
  <message>
   <source>There is a key '{0}' already. Revoke it first.</source>
   <translation>Es gibt schon einen Schlüssel „{0}“. Widerrufen Sie ihn zuerst.</translation>
  </message>
  <message>
   <source>A limit is 0 (none) or more.</source>
   <translation>Eine Grenze ist 0 (keine) oder mehr.</translation>
  </message>
  <message>
   <source>There is no key '{0}'.</source>
   <translation>Es gibt keinen Schlüssel „{0}“.</translation>
  </message>
  <message>
   <source>The keys could not be saved: {0}. They hold until Moat ends.</source>
   <translation>Die Schlüssel konnten nicht gespeichert werden: {0}. Sie gelten, bis Moat endet.</translation>
  </message>
  <message>
   <source>The request was cancelled in Moat's window.</source>
   <translation>Die Anfrage wurde im Fenster von Moat abgebrochen.</translation>
  </message>
  <message>
   <source>The request was cancelled by its client.</source>
   <translation>Die Anfrage wurde von ihrem Programm abgebrochen.</translation>
  </message>
  <message>
   <source>Something went wrong inside Moat; the log says what.</source>
   <translation>In Moat ging etwas schief; das Protokoll sagt, was.</translation>
  </message>
  <message>
   <source>There is no file or folder {0}.</source>
   <translation>Es gibt keine Datei und keinen Ordner {0}.</translation>
  </message>
  <message>
   <source>{0} more files were not read whole.</source>
   <translation>{0} weitere Dateien wurden nicht ganz gelesen.</translation>
  </message>
  <message>
   <source>No update feed is set. Enter an https address and a key in Settings → Updates.</source>
   <translation>Keine Update-Adresse ist angegeben. Geben Sie unter Einstellungen → Updates eine https-Adresse und einen Schlüssel ein.</translation>
  </message>
  <message>
   <source>The update information could not be loaded: {0}.</source>
   <translation>Die Update-Information konnte nicht geladen werden: {0}.</translation>
  </message>
  <message>
   <source>The update information is too large.</source>
   <translation>Die Update-Information ist zu groß.</translation>
  </message>
  <message>
   <source>The update information has no valid signature.</source>
   <translation>Die Update-Information hat keine gültige Signatur.</translation>
  </message>
  <message>
   <source>Checking for updates is turned off. Turn it on in Settings → Updates.</source>
   <translation>Die Suche nach Updates ist aus. Schalten Sie sie unter Einstellungen → Updates ein.</translation>
  </message>
  <message>
   <source>Cannot reach {0}. Check the connection and try again.</source>
   <translation>{0} ist nicht erreichbar. Prüfen Sie die Verbindung, und versuchen Sie es erneut.</translation>
  </message>
  <message>
   <source>The address does not return update information.</source>
   <translation>Die Adresse liefert keine Update-Information.</translation>
  </message>
  <message>
   <source>The update information is signed but cannot be read.</source>
   <translation>Die Update-Information ist signiert, aber nicht lesbar.</translation>
  </message>
  <message>
   <source>{0} redirects to another host.</source>
   <translation>{0} leitet zu einem anderen Host weiter.</translation>
  </message>
  <message>
   <source>{0} redirects a change: it is not sent a second time.</source>
   <translation>{0} leitet eine Änderung weiter: Sie wird kein zweites Mal gesendet.</translation>
  </message>
  <message>
   <source>{0} redirects to an unencrypted address.</source>
   <translation>{0} leitet zu einer unverschlüsselten Adresse weiter.</translation>
  </message>
  <message>
   <source>{0} redirects without end.</source>
   <translation>{0} leitet endlos weiter.</translation>
  </message>
  <message>
   <source>The proxy does not connect to {0}.</source>
   <translation>Der Proxy verbindet nicht mit {0}.</translation>
  </message>
  <message>
   <source>Offline mode is on, so Moat opens no outgoing connection. Turn it off in Settings → Network.</source>
   <translation>Der Offline-Modus ist an, darum öffnet Moat keine ausgehende Verbindung. Schalten Sie ihn unter Einstellungen → Netzwerk aus.</translation>
  </message>
  <message>
   <source>Addresses of the kind '{0}' are never opened.</source>
   <translation>Adressen der Art „{0}“ werden nie geöffnet.</translation>
  </message>
  <message>
   <source>{0} redirects to {1}, which is not allowed for: {2}.</source>
   <translation>{0} leitet an {1} weiter, was nicht erlaubt ist für: {2}.</translation>
  </message>
  <message>
   <source>{0} is not allowed for: {1}.</source>
   <translation>{0} ist nicht erlaubt für: {1}.</translation>
  </message>
  <message>
   <source>An address that cannot be read is never opened.</source>
   <translation>Eine Adresse, die nicht lesbar ist, wird nie geöffnet.</translation>
  </message>
  <message>
   <source>{0} leads to a private address.</source>
   <translation>{0} führt zu einer privaten Adresse.</translation>
  </message>
  <message>
   <source>A request that cannot be written is never sent.</source>
   <translation>Eine Anfrage, die sich nicht schreiben lässt, wird nie gesendet.</translation>
  </message>
  <message>
   <source>The certificate {0} cannot be read: {1}.</source>
   <translation>Das Zertifikat {0} lässt sich nicht lesen: {1}.</translation>
  </message>
  <message>
   <source>This model's maximum context length is {0} tokens. However, the prompt has {1} tokens. Please shorten it.</source>
   <translation>Das Modell hat höchstens Platz für {0} Token. Die Frage hat aber {1} Token. Bitte kürzen Sie sie.</translation>
  </message>
  <message>
   <source>There is no model '{0}' here. Installed: {1}.</source>
   <translation>Hier gibt es kein Modell „{0}“. Installiert: {1}.</translation>
  </message>
  <message>
   <source>No model is installed. Open Moat and pick one on the Models page.</source>
   <translation>Kein Modell ist installiert. Wählen Sie in Moat auf der Seite „Modelle“ eines aus.</translation>
  </message>
  <message>
   <source>{0} could not be loaded: {1} {2} stays the default model.</source>
   <translation>{0} konnte nicht geladen werden: {1} {2} bleibt das Standardmodell.</translation>
  </message>
  <message>
   <source>{0} is damaged: {1}.</source>
   <translation>{0} ist beschädigt: {1}.</translation>
  </message>
  <message>
   <source>The queue is full ({0} requests wait). Try again shortly.</source>
   <translation>Die Warteschlange ist voll ({0} Anfragen warten). Versuchen Sie es gleich noch einmal.</translation>
  </message>
  <message>
   <source>This key was revoked. Ask whoever runs this Moat for another.</source>
   <translation>Dieser Schlüssel wurde widerrufen. Bitten Sie die Person, die dieses Moat betreibt, um einen neuen.</translation>
  </message>
  <message>
   <source>The key '{0}' may not use the model '{1}'. It may use: {2}.</source>
   <translation>Der Schlüssel „{0}“ darf das Modell „{1}“ nicht benutzen. Er darf: {2}.</translation>
  </message>
  <message>
   <source>The key '{0}' may not {1}.</source>
   <translation>Der Schlüssel „{0}“ darf das nicht: {1}.</translation>
  </message>
  <message>
   <source>The key '{0}' may have {1} requests at a time, and they are under way. Try again shortly.</source>
   <translation>Der Schlüssel „{0}“ darf {1} Anfragen gleichzeitig haben, und sie laufen gerade. Versuchen Sie es gleich noch einmal.</translation>
  </message>
  <message>
   <source>The key '{0}' has used its {1} tokens of today. It can go on at midnight UTC.</source>
   <translation>Der Schlüssel „{0}“ hat seine {1} Token von heute verbraucht. Um Mitternacht UTC geht es weiter.</translation>
  </message>
  <message>
   <source>Moat is shutting down.</source>
   <translation>Moat wird beendet.</translation>
  </message>
  <message>
   <source>The server does not respond.</source>
   <translation>Der Server reagiert nicht.</translation>
  </message>
  <message>
   <source>This system has no usable keyring: secrets are stored unencrypted in {0}.</source>
   <translation>Dieses System hat keinen nutzbaren Schlüsselbund: Zugangsdaten liegen unverschlüsselt in {0}.</translation>
  </message>
  <message>
   <source>The system's keyring does not work just now. Unlock it and try again.</source>
   <translation>Der Schlüsselbund des Systems funktioniert gerade nicht. Entsperren Sie ihn, und versuchen Sie es erneut.</translation>
  </message>
  <message>
   <source>{0} is an archive, not a document.</source>
   <translation>{0} ist ein Archiv, kein Dokument.</translation>
  </message>
  <message>
   <source>{0} is not text.</source>
   <translation>{0} ist kein Text.</translation>
  </message>
  <message>
   <source>{0} is protected by a password.</source>
   <translation>{0} ist durch ein Passwort geschützt.</translation>
  </message>
  <message>
   <source>Only the first {0} of {1} pages of {2} were read.</source>
   <translation>Nur die ersten {0} von {1} Seiten aus {2} wurden gelesen.</translation>
  </message>
  <message>
   <source>{0} of {1} pages of {2} were too big to read.</source>
   <translation>{0} von {1} Seiten aus {2} waren zu groß, um gelesen zu werden.</translation>
  </message>
  <message>
   <source>Only the first {0} of {1} sheets of {2} were read.</source>
   <translation>Nur die ersten {0} von {1} Blättern aus {2} wurden gelesen.</translation>
  </message>
  <message>
   <source>{0} is damaged or not what it claims to be.</source>
   <translation>{0} ist beschädigt oder nicht das, was es zu sein vorgibt.</translation>
  </message>
  <message>
   <source>{0} is damaged: its contents could not be decoded.</source>
   <translation>{0} ist beschädigt: Der Inhalt ließ sich nicht dekodieren.</translation>
  </message>
  <message>
   <source>Only the first {0} of {1} rows of {2} were read.</source>
   <translation>Nur die ersten {0} von {1} Zeilen aus {2} wurden gelesen.</translation>
  </message>
  <message>
   <source>Only the first {0} of {1} columns of {2} were read.</source>
   <translation>Nur die ersten {0} von {1} Spalten aus {2} wurden gelesen.</translation>
  </message>
  <message>
   <source>{0} holds no text; it may be a scan, and Moat does not read pictures.</source>
   <translation>{0} enthält keinen Text; vielleicht ist es ein Scan, und Moat liest keine Bilder.</translation>
  </message>
  <message>
   <source>{0} cannot be read; save it as xlsx.</source>
   <translation>{0} kann nicht gelesen werden; speichern Sie es als xlsx.</translation>
  </message>
  <message>
   <source>There are no rows to draw.</source>
   <translation>Es gibt keine Zeilen zu zeichnen.</translation>
  </message>
  <message>
   <source>There are no rows to draw: 'render' needs a table of data.</source>
   <translation>Es gibt keine Zeilen zu zeichnen: „render“ braucht eine Tabelle mit Daten.</translation>
  </message>
  <message>
   <source>There is no column of numbers to draw.</source>
   <translation>Es gibt keine Spalte mit Zahlen zu zeichnen.</translation>
  </message>
  <message>
   <source>The chart is refused at '{0}': {1}</source>
   <translation>Das Diagramm wird bei „{0}“ abgelehnt: {1}</translation>
  </message>
  <message>
   <source>{0} has Excel's or Word's old format and cannot be read; save it as xlsx or docx.</source>
   <translation>{0} ist im alten Format von Excel oder Word und kann nicht gelesen werden; speichern Sie es als xlsx oder docx.</translation>
  </message>
  <message>
   <source>Only SELECT is allowed.</source>
   <translation>Nur SELECT ist erlaubt.</translation>
  </message>
  <message>
   <source>The table {0} has no columns.</source>
   <translation>Die Tabelle {0} hat keine Spalten.</translation>
  </message>
  <message>
   <source>The query failed: {0}.</source>
   <translation>Die Abfrage ist gescheitert: {0}.</translation>
  </message>
  <message>
   <source>The tables take too long to fill.</source>
   <translation>Das Füllen der Tabellen dauert zu lange.</translation>
  </message>
  <message>
   <source>There is no database {0}.</source>
   <translation>Es gibt keine Datenbank {0}.</translation>
  </message>
  <message>
   <source>{0} cannot be read as a table: {1}.</source>
   <translation>{0} lässt sich nicht als Tabelle lesen: {1}.</translation>
  </message>
  <message>
   <source>The model's answer ended without a reason.</source>
   <translation>Die Antwort des Modells endete ohne Angabe eines Grundes.</translation>
  </message>
  <message>
   <source>'{0}' cannot be combined with 'tools'.</source>
   <translation>„{0}“ kann nicht mit „tools“ kombiniert werden.</translation>
  </message>
  <message>
   <source>{0}, {1}</source>
   <translation>{0}, {1}</translation>
  </message>
  <message>
   <source>{0} {1}</source>
   <translation>{0} {1}</translation>
  </message>
  <message>
   <source>System prompts, tools and thoughts may be missing until that succeeds; it is tried again with the next question.</source>
   <translation>Bis das gelingt, fehlen vielleicht Systemanweisungen, Werkzeuge und Gedanken; bei der nächsten Frage wird es wieder versucht.</translation>
  </message>
  <message>
   <source>System prompts, tools or thoughts may not reach the model.</source>
   <translation>Systemanweisungen, Werkzeuge oder Gedanken erreichen das Modell vielleicht nicht.</translation>
  </message>
  <message>
   <source>{0}: The chat template could not be tried out: {1}. {2}</source>
   <translation>{0}: Die Chat-Vorlage konnte nicht ausprobiert werden: {1}. {2}</translation>
  </message>
  <message>
   <source>{0} does not fit: {1}</source>
   <translation>{0} passt nicht in den Speicher: {1}</translation>
  </message>
  <message>
   <source>The engine was started again and could not use the graphics card.</source>
   <translation>Die Engine wurde neu gestartet und konnte die Grafikkarte nicht benutzen.</translation>
  </message>
  <message>
   <source>{0} cannot read images: the vision projector {1} does not match this model.</source>
   <translation>{0} kann keine Bilder lesen: Der Vision-Projektor {1} passt nicht zu diesem Modell.</translation>
  </message>
  <message>
   <source>{0} runs on the processor. {1}</source>
   <translation>{0} läuft auf dem Prozessor. {1}</translation>
  </message>
  <message>
   <source>The engine stopped: {0}.</source>
   <translation>Die Engine ist ausgefallen: {0}.</translation>
  </message>
  <message>
   <source>The model could not be loaded. {0}</source>
   <translation>Das Modell konnte nicht geladen werden. {0}</translation>
  </message>
  <message>
   <source>The model needs about {0} MB of memory, but only {1} MB are allowed.</source>
   <translation>Das Modell braucht etwa {0} MB Speicher, aber nur {1} MB sind erlaubt.</translation>
  </message>
  <message>
   <source>The model was unloaded before it was ready.</source>
   <translation>Das Modell wurde entladen, bevor es bereit war.</translation>
  </message>
  <message>
   <source>The engine could not be started. Install Moat again, or see the log.</source>
   <translation>Die Engine konnte nicht gestartet werden. Installieren Sie Moat erneut, oder sehen Sie im Protokoll nach.</translation>
  </message>
  <message>
   <source>{0} This happened repeatedly.</source>
   <translation>{0} Das ist wiederholt passiert.</translation>
  </message>
  <message>
   <source>The engine on the other machine takes only a JSON schema, and only for a chat.</source>
   <translation>Die Engine auf dem anderen Rechner nimmt nur ein JSON-Schema, und nur für einen Chat.</translation>
  </message>
  <message>
   <source>The engine on the other machine cannot fill a gap in a text.</source>
   <translation>Die Engine auf dem anderen Rechner kann keine Lücke in einem Text füllen.</translation>
  </message>
  <message>
   <source>If that network is yours, name its domain in the settings, under Network.</source>
   <translation>Wenn das Ihr eigenes Netz ist, tragen Sie seine Domain in den Einstellungen unter „Netzwerk“ ein.</translation>
  </message>
  <message>
   <source>The engine at {0} made a call that does not fit: {1}.</source>
   <translation>Die Engine auf {0} machte einen ungültigen Aufruf: {1}.</translation>
  </message>
  <message>
   <source>The engine at {0} does not keep to the JSON schema: {1}.</source>
   <translation>Die Engine auf {0} hält sich nicht an das JSON-Schema: {1}.</translation>
  </message>
  <message>
   <source>The engine at {0} cannot keep to the JSON schema: {1}.</source>
   <translation>Die Engine auf {0} kann das JSON-Schema nicht einhalten: {1}.</translation>
  </message>
  <message>
   <source>The engine at {0} has no {1}.</source>
   <translation>Die Engine auf {0} hat kein {1}.</translation>
  </message>
  <message>
   <source>The engine at {0} sent {1}.</source>
   <translation>Die Engine auf {0} hat {1} gesendet.</translation>
  </message>
  <message>
   <source>The engine at {0} failed: {1}</source>
   <translation>Die Engine auf {0} ist gescheitert: {1}</translation>
  </message>
  <message>
   <source>The engine at {0} serves {1}, not '{2}'.</source>
   <translation>Die Engine auf {0} bedient {1}, nicht „{2}“.</translation>
  </message>
  <message>
   <source>The engine at {0} ended the answer early.</source>
   <translation>Die Engine auf {0} beendete die Antwort zu früh.</translation>
  </message>
  <message>
   <source>The engine at {0} called no tool although it must.</source>
   <translation>Die Engine auf {0} rief kein Werkzeug auf, obwohl sie es müsste.</translation>
  </message>
  <message>
   <source>The engine at {0} cannot be reached or broke off.</source>
   <translation>Die Engine auf {0} ist nicht zu erreichen oder brach ab.</translation>
  </message>
  <message>
   <source>The engine at {0} does not accept our key.</source>
   <translation>Die Engine auf {0} nimmt unseren Schlüssel nicht an.</translation>
  </message>
  <message>
   <source>The engine at {0} reports: {1}</source>
   <translation>Die Engine auf {0} meldet: {1}</translation>
  </message>
  <message>
   <source>The engine at {0} redirects requests.</source>
   <translation>Die Engine auf {0} leitet Anfragen um.</translation>
  </message>
  <message>
   <source>The engine at {0} is at a private address. {1}</source>
   <translation>Die Engine auf {0} hat eine private Adresse. {1}</translation>
  </message>
  <message>
   <source>'{0}' cannot be the name of a model.</source>
   <translation>„{0}“ kann nicht der Name eines Modells sein.</translation>
  </message>
  <message>
   <source>There is already a model '{0}'.</source>
   <translation>Ein Modell „{0}“ gibt es schon.</translation>
  </message>
  <message>
   <source>Name a repository instead: hf.co/owner/repository, or hf.co/owner/repository:Q4_K_M.</source>
   <translation>Nennen Sie stattdessen ein Repository: hf.co/owner/repository oder hf.co/owner/repository:Q4_K_M.</translation>
  </message>
  <message>
   <source>{0} is more capable, but would write about {1:.1f} tokens per second here; this one writes about {2:.1f}.</source>
   <translation>{0} ist leistungsfähiger, würde hier aber nur etwa {1:.1f} Token pro Sekunde schreiben; dieses schreibt etwa {2:.1f}.</translation>
  </message>
  <message>
   <source>No model in this list is more capable.</source>
   <translation>Kein Modell dieser Liste ist leistungsfähiger.</translation>
  </message>
  <message>
   <source>It is the most capable that fits: the others need more memory than is free.</source>
   <translation>Es ist das leistungsfähigste, das passt: Die anderen brauchen mehr Speicher, als frei ist.</translation>
  </message>
  <message>
   <source>{0} is more capable, but would run slowly here.</source>
   <translation>{0} ist leistungsfähiger, wäre hier aber langsam.</translation>
  </message>
  <message>
   <source>New models are being looked for already.</source>
   <translation>Nach neuen Modellen wird bereits gesucht.</translation>
  </message>
  <message>
   <source>Looking for new models was cancelled.</source>
   <translation>Die Suche nach neuen Modellen wurde abgebrochen.</translation>
  </message>
  <message>
   <source>The hub names no new model that fits this computer.</source>
   <translation>Der Hub nennt kein neues Modell, das auf diesen Computer passt.</translation>
  </message>
  <message>
   <source>Asking for the models of {0} ({1} of {2}).</source>
   <translation>Die Modelle von {0} werden erfragt ({1} von {2}).</translation>
  </message>
  <message>
   <source>Reading {0} ({1} of {2}).</source>
   <translation>{0} wird gelesen ({1} von {2}).</translation>
  </message>
  <message>
   <source>Popular on the hub on {0}.</source>
   <translation>Am {0} auf dem Hub sehr gefragt.</translation>
  </message>
  <message>
   <source>Without a graphics card it will write slowly.</source>
   <translation>Ohne Grafikkarte wird es langsam schreiben.</translation>
  </message>
  <message>
   <source>There was not enough memory, so the model runs with {0}.</source>
   <translation>Der Speicher reichte nicht, darum läuft das Modell mit: {0}.</translation>
  </message>
  <message>
   <source>It takes {0}.</source>
   <translation>Es braucht {0}.</translation>
  </message>
  <message>
   <source>{0} of {1} layers on the card: the rest is slow.</source>
   <translation>{0} von {1} Schichten auf der Karte: Der Rest ist langsam.</translation>
  </message>
  <message>
   <source>{0} has only {1} free.</source>
   <translation>{0} hat nur {1} frei.</translation>
  </message>
  <message>
   <source>{0}, used before, was not found: check its driver, or restart the computer.</source>
   <translation>{0}, früher benutzt, wurde nicht gefunden: Prüfen Sie den Treiber, oder starten Sie den Computer neu.</translation>
  </message>
  <message>
   <source>There is no graphics card that the engine can use.</source>
   <translation>Es gibt keine Grafikkarte, die die Engine benutzen kann.</translation>
  </message>
  <message>
   <source>The file does not say how large the model's layers are.</source>
   <translation>Die Datei sagt nicht, wie groß die Schichten des Modells sind.</translation>
  </message>
  <message>
   <source>{0} lacks {1}: put fewer layers on it.</source>
   <translation>{0} hat {1} zu wenig: Legen Sie weniger Schichten darauf.</translation>
  </message>
  <message>
   <source>{0}; this machine has {1} in all.</source>
   <translation>{0}; dieser Rechner hat insgesamt {1}.</translation>
  </message>
  <message>
   <source>{0} with the experts of {1} layers on the processor</source>
   <translation>{0} mit den Experten von {1} Schichten beim Prozessor</translation>
  </message>
  <message>
   <source>The engine did not put it on {0}; the log says why.</source>
   <translation>Die Engine legte es nicht auf {0}; das Protokoll sagt, warum.</translation>
  </message>
  <message>
   <source>{0}: close other programs, or choose a smaller model.</source>
   <translation>{0}: Schließen Sie andere Programme, oder wählen Sie ein kleineres Modell.</translation>
  </message>
  <message>
   <source>The hub needs a token, and Moat sends none unencrypted: use its https address.</source>
   <translation>Der Hub verlangt ein Token, und Moat sendet keines unverschlüsselt: verwenden Sie seine https-Adresse.</translation>
  </message>
  <message>
   <source>The connection to the hub broke. Check the connection and try again.</source>
   <translation>Die Verbindung zum Hub brach ab. Prüfen Sie die Verbindung, und versuchen Sie es noch einmal.</translation>
  </message>
  <message>
   <source>The hub stopped responding.</source>
   <translation>Der Hub antwortet nicht mehr.</translation>
  </message>
  <message>
   <source>Cannot reach {0}. Check the connection, or set a mirror in Settings → Network.</source>
   <translation>{0} ist nicht erreichbar. Prüfen Sie die Verbindung, oder tragen Sie unter Einstellungen → Netzwerk einen Spiegel ein.</translation>
  </message>
  <message>
   <source>The hub sent the file in an unexpected encoding.</source>
   <translation>Der Hub hat die Datei in einer unerwarteten Kodierung gesendet.</translation>
  </message>
  <message>
   <source>The hub (or a proxy) sent the wrong part of the file.</source>
   <translation>Der Hub (oder ein Proxy) hat den falschen Teil der Datei gesendet.</translation>
  </message>
  <message>
   <source>The hub has no such file.</source>
   <translation>Der Hub hat keine solche Datei.</translation>
  </message>
  <message>
   <source>The hub has no such revision.</source>
   <translation>Der Hub hat keine solche Revision.</translation>
  </message>
  <message>
   <source>The hub answered with the error {0}.</source>
   <translation>Der Hub antwortete mit dem Fehler {0}.</translation>
  </message>
  <message>
   <source>The hub refuses access. It may want a token.</source>
   <translation>Der Hub verweigert den Zugriff. Vielleicht verlangt er ein Token.</translation>
  </message>
  <message>
   <source>The hub needs a token: accept the model's terms on its page, then add it.</source>
   <translation>Der Hub verlangt ein Token: Nehmen Sie auf seiner Seite die Bedingungen des Modells an, und tragen Sie es dann ein.</translation>
  </message>
  <message>
   <source>The hub refuses: accept the model's terms on its page first. A fine-grained token must also be allowed to read gated repositories.</source>
   <translation>Der Hub lehnt ab: Nehmen Sie zuerst auf seiner Seite die Bedingungen des Modells an. Ein Token mit einzelnen Rechten muss außerdem zugangsbeschränkte Repositorys lesen dürfen.</translation>
  </message>
  <message>
   <source>The hub does not accept the saved token. Save a valid one, or remove it.</source>
   <translation>Der Hub nimmt das gespeicherte Token nicht an. Speichern Sie ein gültiges oder entfernen Sie es.</translation>
  </message>
  <message>
   <source>The hub shows no such repository. Check its name; a private one needs its token.</source>
   <translation>Der Hub zeigt kein solches Repository. Prüfen Sie seinen Namen; ein privates braucht sein Token.</translation>
  </message>
  <message>
   <source>The hub has no such repository.</source>
   <translation>Der Hub hat kein solches Repository.</translation>
  </message>
  <message>
   <source>The hub has disabled this repository.</source>
   <translation>Der Hub hat dieses Repository gesperrt.</translation>
  </message>
  <message>
   <source>The hub asks to wait: too many requests.</source>
   <translation>Der Hub bittet zu warten: zu viele Anfragen.</translation>
  </message>
  <message>
   <source>The hub refuses access: the saved token may not read this.</source>
   <translation>Der Hub verweigert den Zugriff: Das gespeicherte Token darf dies nicht lesen.</translation>
  </message>
  <message>
   <source>The hub has no such repository or file.</source>
   <translation>Der Hub hat kein solches Repository und keine solche Datei.</translation>
  </message>
  <message>
   <source>The hub answers only with a token.</source>
   <translation>Der Hub antwortet nur mit einem Token.</translation>
  </message>
  <message>
   <source>The hub's answer is far too long.</source>
   <translation>Die Antwort des Hubs ist viel zu lang.</translation>
  </message>
  <message>
   <source>The hub's answer cannot be understood.</source>
   <translation>Die Antwort des Hubs ist nicht zu verstehen.</translation>
  </message>
  <message>
   <source>Starter model, for trying Moat out: answers short, simple questions. For real work, download a larger model.</source>
   <translation>Startmodell zum Ausprobieren: beantwortet kurze, einfache Fragen. Laden Sie für richtige Arbeit ein größeres Modell.</translation>
  </message>
  <message>
   <source>{0} is a vision projector, not a model: load it together with its model.</source>
   <translation>{0} ist ein Vision-Projektor, kein Modell: Laden Sie ihn zusammen mit seinem Modell.</translation>
  </message>
  <message>
   <source>The starter model is part of the program.</source>
   <translation>Das Startmodell ist Teil des Programms.</translation>
  </message>
  <message>
   <source>This model belongs to another program; delete it there.</source>
   <translation>Dieses Modell gehört einem anderen Programm; löschen Sie es dort.</translation>
  </message>
  <message>
   <source>{0} was found, but this build of the engine cannot use it.</source>
   <translation>{0} wurde gefunden, aber diese Engine-Version kann sie nicht benutzen.</translation>
  </message>
  <message>
   <source>Support for graphics cards ({0}) is not used: {1}.</source>
   <translation>Die Unterstützung für Grafikkarten ({0}) wird nicht benutzt: {1}.</translation>
  </message>
  <message>
   <source>A repository is named owner/name.</source>
   <translation>Ein Repository heißt Besitzer/Name.</translation>
  </message>
  <message>
   <source>That is not the name of a revision.</source>
   <translation>Das ist kein Name einer Revision.</translation>
  </message>
  <message>
   <source>That file name is not allowed.</source>
   <translation>Dieser Dateiname ist nicht erlaubt.</translation>
  </message>
  <message>
   <source>That file would be outside the model folder.</source>
   <translation>Diese Datei läge außerhalb des Modellordners.</translation>
  </message>
  <message>
   <source>There is no such file in {0}. There are: {1}.</source>
   <translation>Diese Datei gibt es in {0} nicht. Es gibt: {1}.</translation>
  </message>
  <message>
   <source>Moat does not know from which repository this file is.</source>
   <translation>Moat weiß nicht, aus welchem Repository diese Datei ist.</translation>
  </message>
  <message>
   <source>This repository holds no GGUF files.</source>
   <translation>Dieses Repository enthält keine GGUF-Dateien.</translation>
  </message>
  <message>
   <source>'{0}' runs on another server: Moat can only remove it from its list.</source>
   <translation>„{0}“ läuft auf einem anderen Server: Moat kann es nur aus der Liste entfernen.</translation>
  </message>
  <message>
   <source>A model has no setting '{0}' of its own: {1}.</source>
   <translation>Ein Modell hat keine eigene Einstellung „{0}“: {1}.</translation>
  </message>
  <message>
   <source>The hub has no newer file of this model.</source>
   <translation>Der Hub hat keine neuere Datei dieses Modells.</translation>
  </message>
  <message>
   <source>No other program of this computer is signed in.</source>
   <translation>Kein anderes Programm dieses Computers ist angemeldet.</translation>
  </message>
  <message>
   <source>The disk is full: {0} MB more are needed.</source>
   <translation>Die Festplatte ist voll: {0} MB mehr werden gebraucht.</translation>
  </message>
  <message>
   <source>{0} Trying again in {1} s.</source>
   <translation>{0} Neuer Versuch in {1} s.</translation>
  </message>
  <message>
   <source>The hub ended the file before its end.</source>
   <translation>Der Hub brach die Datei vor ihrem Ende ab.</translation>
  </message>
  <message>
   <source>The hub no longer has this file.</source>
   <translation>Der Hub hat diese Datei nicht mehr.</translation>
  </message>
  <message>
   <source>The checksum was wrong twice, so the file was deleted.</source>
   <translation>Die Prüfsumme war zweimal falsch, darum wurde die Datei gelöscht.</translation>
  </message>
  <message>
   <source>The disk could not be written: {0}.</source>
   <translation>Auf die Festplatte konnte nicht geschrieben werden: {0}.</translation>
  </message>
  <message>
   <source>The disk cannot be written: {0}.</source>
   <translation>Auf die Festplatte kann nicht geschrieben werden: {0}.</translation>
  </message>
  <message>
   <source>The download cannot start: {0}.</source>
   <translation>Der Download kann nicht starten: {0}.</translation>
  </message>
  <message>
   <source>The disk is full.</source>
   <translation>Die Festplatte ist voll.</translation>
  </message>
  <message>
   <source>There is nothing to download.</source>
   <translation>Es gibt nichts zu laden.</translation>
  </message>
  <message>
   <source>{0} is already installed.</source>
   <translation>{0} ist schon installiert.</translation>
  </message>
  <message>
   <source>There is no such download.</source>
   <translation>Diesen Download gibt es nicht.</translation>
  </message>
  <message>
   <source>Another program is downloading this file.</source>
   <translation>Ein anderes Programm lädt diese Datei.</translation>
  </message>
  <message>
   <source>{0} It continues when there is space.</source>
   <translation>{0} Er läuft weiter, sobald Platz ist.</translation>
  </message>
  <message>
   <source>The hub's file changes again and again.</source>
   <translation>Die Datei des Hubs ändert sich immer wieder.</translation>
  </message>
  <message>
   <source>The chat template is not the one the model's makers publish.</source>
   <translation>Die Chat-Vorlage ist nicht die, die die Hersteller des Modells veröffentlichen.</translation>
  </message>
  <message>
   <source>The chat template acts differently at certain dates.</source>
   <translation>Die Chat-Vorlage verhält sich an bestimmten Tagen anders.</translation>
  </message>
  <message>
   <source>The file has no chat template; a plain one is used.</source>
   <translation>Die Datei hat keine Chat-Vorlage; eine einfache wird benutzt.</translation>
  </message>
  <message>
   <source>The chat template is far longer than any known one.</source>
   <translation>Die Chat-Vorlage ist viel länger als jede bekannte.</translation>
  </message>
  <message>
   <source>The chat template contains the address {0}.</source>
   <translation>Die Chat-Vorlage enthält die Adresse {0}.</translation>
  </message>
  <message>
   <source>The chat template cannot be read.</source>
   <translation>Die Chat-Vorlage ist nicht zu lesen.</translation>
  </message>
  <message>
   <source>The chat template acts differently when a message holds “{0}”.</source>
   <translation>Die Chat-Vorlage verhält sich anders, wenn eine Nachricht „{0}“ enthält.</translation>
  </message>
  <message>
   <source>'{0}' is no kind of constraint.</source>
   <translation>„{0}“ ist keine Art von Vorgabe.</translation>
  </message>
  <message>
   <source>The schema cannot be enforced at {0}: {1}</source>
   <translation>Das Schema kann bei {0} nicht erzwungen werden: {1}</translation>
  </message>
  <message>
   <source>{0} cannot be enforced: {1}</source>
   <translation>{0} kann nicht erzwungen werden: {1}</translation>
  </message>
  <message>
   <source>The answer's grammar failed: {0}</source>
   <translation>Die Grammatik der Antwort ist gescheitert: {0}</translation>
  </message>
  <message>
   <source>The schema must be an object.</source>
   <translation>Das Schema muss ein Objekt sein.</translation>
  </message>
  <message>
   <source>The schema is not JSON: {0}.</source>
   <translation>Das Schema ist kein JSON: {0}.</translation>
  </message>
  <message>
   <source>There is not enough memory for a context of {0} tokens for each of {1} answers.</source>
   <translation>Der Speicher reicht nicht für einen Kontext von {0} Token für jede von {1} Antworten.</translation>
  </message>
  <message>
   <source>The adapter {0} does not fit.</source>
   <translation>Der Adapter {0} passt nicht.</translation>
  </message>
  <message>
   <source>llama.cpp could not load {0}; the log says why.</source>
   <translation>llama.cpp konnte {0} nicht laden; das Protokoll sagt, warum.</translation>
  </message>
  <message>
   <source>{0} is not a GGUF model file.</source>
   <translation>{0} ist keine GGUF-Modelldatei.</translation>
  </message>
  <message>
   <source>There is no graphics card number {0}; the engine finds {1}, from 0 on.</source>
   <translation>Es gibt keine Grafikkarte mit der Nummer {0}; die Engine findet {1}, gezählt ab 0.</translation>
  </message>
  <message>
   <source>The draft model {0} has another vocabulary.</source>
   <translation>Das Entwurfsmodell {0} hat ein anderes Vokabular.</translation>
  </message>
  <message>
   <source>llama.cpp could not compute the answer; the log says why.</source>
   <translation>llama.cpp konnte die Antwort nicht berechnen; das Protokoll sagt, warum.</translation>
  </message>
  <message>
   <source>No model is loaded yet.</source>
   <translation>Noch ist kein Modell geladen.</translation>
  </message>
  <message>
   <source>The worker does not know '{0}'.</source>
   <translation>Der Arbeitsprozess kennt „{0}“ nicht.</translation>
  </message>
  <message>
   <source>At most {0} characters are tokenised.</source>
   <translation>Höchstens {0} Zeichen werden in Token zerlegt.</translation>
  </message>
  <message>
   <source>At most {0} tokens are read at once.</source>
   <translation>Höchstens {0} Token werden auf einmal gelesen.</translation>
  </message>
  <message>
   <source>The request could not be read: {0}.</source>
   <translation>Die Anfrage war nicht zu lesen: {0}.</translation>
  </message>
  <message>
   <source>The prompt could not be read: {0}.</source>
   <translation>Die Frage war nicht zu lesen: {0}.</translation>
  </message>
  <message>
   <source>The prompt has {0} tokens; the model has room for {1}.</source>
   <translation>Die Frage hat {0} Token; das Modell hat Platz für {1}.</translation>
  </message>
  <message>
   <source>An image is damaged, or not a PNG, JPEG, GIF, WebP or BMP file.</source>
   <translation>Ein Bild ist beschädigt oder weder PNG, JPEG, GIF, WebP noch BMP.</translation>
  </message>
  <message>
   <source>There are {0} images; at most {1} are read at once.</source>
   <translation>Es sind {0} Bilder; höchstens {1} werden auf einmal gelesen.</translation>
  </message>
  <message>
   <source>An image is larger than {0} MB.</source>
   <translation>Ein Bild ist größer als {0} MB.</translation>
  </message>
  <message>
   <source>An image has {0} x {1} pixels; at most {2} million are read.</source>
   <translation>Ein Bild hat {0} x {1} Pixel; höchstens {2} Millionen werden gelesen.</translation>
  </message>
  <message>
   <source>An image of {0} x {1} pixels is too narrow to be read.</source>
   <translation>Ein Bild mit {0} x {1} Pixeln ist zu schmal, um es anzusehen.</translation>
  </message>
  <message>
   <source>The images together are too large; send fewer or smaller ones.</source>
   <translation>Die Bilder sind zusammen zu groß; senden Sie weniger oder kleinere.</translation>
  </message>
  <message>
   <source>The model's chat template does not show the last message as it is.</source>
   <translation>Die Chat-Vorlage des Modells zeigt die letzte Nachricht nicht so, wie sie ist.</translation>
  </message>
  <message>
   <source>The prompt is empty.</source>
   <translation>Die Frage ist leer.</translation>
  </message>
  <message>
   <source>This model cannot read images.</source>
   <translation>Dieses Modell kann keine Bilder lesen.</translation>
  </message>
  <message>
   <source>The model's chat template does not show where the images are.</source>
   <translation>Die Chat-Vorlage des Modells zeigt nicht, wo die Bilder stehen.</translation>
  </message>
  <message>
   <source>The model's chat template could not be rendered: {0}.</source>
   <translation>Die Chat-Vorlage des Modells ließ sich nicht ausfüllen: {0}.</translation>
  </message>
  <message>
   <source>it did not answer for {0:g} seconds</source>
   <translation>sie antwortete {0:g} Sekunden lang nicht</translation>
  </message>
  <message>
   <source>The vision projector {0} does not match {1}.</source>
   <translation>Der Vision-Projektor {0} passt nicht zu {1}.</translation>
  </message>
  <message>
   <source>The model cannot read one of the images.</source>
   <translation>Das Modell kann eines der Bilder nicht lesen.</translation>
  </message>
  <message>
   <source>An image takes {0} tokens that the model must read at once; it is loaded for {1} at a time.</source>
   <translation>Ein Bild braucht {0} Token, die das Modell auf einmal lesen muss; geladen ist es für {1} auf einmal.</translation>
  </message>
  <message>
   <source>The vision projector does not match this model: the model lacks tokens it uses.</source>
   <translation>Der Vision-Projektor passt nicht zu diesem Modell: Dem Modell fehlen Token, die er benutzt.</translation>
  </message>
  <message>
   <source>This step is too large for the model's context ({0} of {1} tokens).</source>
   <translation>Dieser Schritt ist zu groß für den Kontext des Modells ({0} von {1} Token).</translation>
  </message>
  <message>
   <source>The arguments are not valid: {0}.</source>
   <translation>Die Argumente sind ungültig: {0}.</translation>
  </message>
  <message>
   <source>{0} took longer than {1:.0f} s.</source>
   <translation>{0} brauchte länger als {1:.0f} s.</translation>
  </message>
  <message>
   <source>Waiting for permission: {0}</source>
   <translation>Wartet auf Erlaubnis: {0}</translation>
  </message>
  <message>
   <source>There was nothing to do.</source>
   <translation>Es gab nichts zu tun.</translation>
  </message>
  <message>
   <source>The model gave no answer.</source>
   <translation>Das Modell hat keine Antwort gegeben.</translation>
  </message>
  <message>
   <source>The flow goes in circles at '{0}'.</source>
   <translation>Der Ablauf dreht sich bei „{0}“ im Kreis.</translation>
  </message>
  <message>
   <source>The flow took longer than {0:.0f} minutes.</source>
   <translation>Der Ablauf brauchte länger als {0:.0f} Minuten.</translation>
  </message>
  <message>
   <source>The model wrote no query that works. {0}</source>
   <translation>Das Modell schrieb keine Abfrage, die funktioniert. {0}</translation>
  </message>
  <message>
   <source>A header or cookie cannot have line breaks.</source>
   <translation>Ein Header oder Cookie kann keine Zeilenumbrüche haben.</translation>
  </message>
  <message>
   <source>{0} answered with '{1}', which is not read.</source>
   <translation>{0} antwortete mit „{1}“, das nicht gelesen wird.</translation>
  </message>
  <message>
   <source>The answer is larger than {0} KB.</source>
   <translation>Die Antwort ist größer als {0} KB.</translation>
  </message>
  <message>
   <source>The plugin does not say where its API is.</source>
   <translation>Das Plugin sagt nicht, wo seine API ist.</translation>
  </message>
  <message>
   <source>{0} answered with status {1}. Check the secrets of this plugin under Plugins.</source>
   <translation>{0} antwortete mit Status {1}. Prüfen Sie die Zugangsdaten dieses Plugins unter „Plugins“.</translation>
  </message>
  <message>
   <source>{0} answered with status {1}.</source>
   <translation>{0} antwortete mit Status {1}.</translation>
  </message>
  <message>
   <source>No file was chosen for '{0}'.</source>
   <translation>Für „{0}“ wurde keine Datei gewählt.</translation>
  </message>
  <message>
   <source>'{0}' cannot be '{1}'.</source>
   <translation>„{0}“ kann nicht „{1}“ sein.</translation>
  </message>
  <message>
   <source>{0}: no answer in time.</source>
   <translation>{0}: keine rechtzeitige Antwort.</translation>
  </message>
  <message>
   <source>{0} could not be reached: {1}.</source>
   <translation>{0} war nicht zu erreichen: {1}.</translation>
  </message>
  <message>
   <source>The answer says it is JSON, but it is not.</source>
   <translation>Die Antwort nennt sich JSON, ist aber keines.</translation>
  </message>
  <message>
   <source>Nobody answered in {0:.0f} s: {1} is denied.</source>
   <translation>Niemand antwortete in {0:.0f} s: {1} ist abgelehnt.</translation>
  </message>
  <message>
   <source>The arguments must be an object.</source>
   <translation>Die Argumente müssen ein Objekt sein.</translation>
  </message>
  <message>
   <source>'{0}' is not a policy: use default, allow or block.</source>
   <translation>„{0}“ ist keine Regel: default, allow oder block.</translation>
  </message>
  <message>
   <source>A dangerous operation needs permission every time.</source>
   <translation>Ein gefährlicher Vorgang braucht jedes Mal eine Erlaubnis.</translation>
  </message>
  <message>
   <source>{0} is blocked under Plugins.</source>
   <translation>{0} ist unter „Plugins“ gesperrt.</translation>
  </message>
  <message>
   <source>{0} was not allowed.</source>
   <translation>{0} wurde nicht erlaubt.</translation>
  </message>
  <message>
   <source>This question is no longer open.</source>
   <translation>Diese Frage ist nicht mehr offen.</translation>
  </message>
  <message>
   <source>'{0}' is not an answer: use once, always or deny.</source>
   <translation>„{0}“ ist keine Antwort: once, always oder deny.</translation>
  </message>
  <message>
   <source>The arguments are not JSON.</source>
   <translation>Die Argumente sind kein JSON.</translation>
  </message>
  <message>
   <source>The form has no field '{0}'.</source>
   <translation>Das Formular hat kein Feld „{0}“.</translation>
  </message>
  <message>
   <source>There is no file '{0}'.</source>
   <translation>Es gibt keine Datei „{0}“.</translation>
  </message>
  <message>
   <source>{0} is larger than {1} MB.</source>
   <translation>{0} ist größer als {1} MB.</translation>
  </message>
  <message>
   <source>The answers must be an object.</source>
   <translation>Die Antworten müssen ein Objekt sein.</translation>
  </message>
  <message>
   <source>The form was closed without an answer.</source>
   <translation>Das Formular wurde ohne Antwort geschlossen.</translation>
  </message>
  <message>
   <source>This form is no longer open.</source>
   <translation>Dieses Formular ist nicht mehr offen.</translation>
  </message>
  <message>
   <source>The answers are not JSON.</source>
   <translation>Die Antworten sind kein JSON.</translation>
  </message>
  <message>
   <source>Nobody filled in the form in time.</source>
   <translation>Niemand füllte das Formular rechtzeitig aus.</translation>
  </message>
  <message>
   <source>The server '{0}' failed: {1}</source>
   <translation>Der Server „{0}“ ist gescheitert: {1}</translation>
  </message>
  <message>
   <source>{0} has no usable flow '{1}'.</source>
   <translation>{0} hat keinen brauchbaren Ablauf „{1}“.</translation>
  </message>
  <message>
   <source>Its server '{0}' failed: {1}</source>
   <translation>Sein Server „{0}“ ist gescheitert: {1}</translation>
  </message>
  <message>
   <source>It cannot be read.</source>
   <translation>Es kann nicht gelesen werden.</translation>
  </message>
  <message>
   <source>Plugins are paused, so '{0}' cannot answer: resume them under Plugins.</source>
   <translation>Plugins sind pausiert, deshalb kann „{0}“ nicht antworten: Setzen Sie sie unter „Plugins“ fort.</translation>
  </message>
  <message>
   <source>The plugin '{0}' is switched off: enable it under Plugins.</source>
   <translation>Das Plugin „{0}“ ist deaktiviert: Aktivieren Sie es unter „Plugins“.</translation>
  </message>
  <message>
   <source>The flow '{0}' of {1} is broken.</source>
   <translation>Der Ablauf „{0}“ von {1} ist defekt.</translation>
  </message>
  <message>
   <source>The plugin '{0}' cannot answer.</source>
   <translation>Das Plugin „{0}“ kann nicht antworten.</translation>
  </message>
  <message>
   <source>An address begins with http:// or https://.</source>
   <translation>Eine Adresse beginnt mit http:// oder https://.</translation>
  </message>
  <message>
   <source>This address cannot be read: it names no host or no such port.</source>
   <translation>Diese Adresse ist nicht lesbar: Sie nennt keinen Host oder einen Port, den es nicht gibt.</translation>
  </message>
  <message>
   <source>'{0}' is neither true nor false.</source>
   <translation>„{0}“ ist weder „true“ noch „false“.</translation>
  </message>
  <message>
   <source>There is no plugin '{0}'.</source>
   <translation>Es gibt kein Plugin „{0}“.</translation>
  </message>
  <message>
   <source>The plugin '{0}' is broken.</source>
   <translation>Das Plugin „{0}“ ist defekt.</translation>
  </message>
  <message>
   <source>The plugin '{0}' has changed: look at it and enable it again.</source>
   <translation>Das Plugin „{0}“ hat sich geändert: Sehen Sie es an und aktivieren Sie es erneut.</translation>
  </message>
  <message>
   <source>It has: {0}.</source>
   <translation>Es hat: {0}.</translation>
  </message>
  <message>
   <source>The plugin '{0}' has no flow '{1}'.</source>
   <translation>Das Plugin „{0}“ hat keinen Ablauf „{1}“.</translation>
  </message>
  <message>
   <source>There is a plugin '{0}' already.</source>
   <translation>Es gibt bereits ein Plugin „{0}“.</translation>
  </message>
  <message>
   <source>{0} is broken and cannot be enabled.</source>
   <translation>{0} ist defekt und lässt sich nicht aktivieren.</translation>
  </message>
  <message>
   <source>{0} comes with Moat; disable it instead.</source>
   <translation>{0} gehört zu Moat; deaktivieren Sie es stattdessen.</translation>
  </message>
  <message>
   <source>{0} has no sign-in provider.</source>
   <translation>{0} hat keinen Anmeldedienst.</translation>
  </message>
  <message>
   <source>Enable {0} before you sign in.</source>
   <translation>Aktivieren Sie {0}, bevor Sie sich anmelden.</translation>
  </message>
  <message>
   <source>'{0}' is not a mode: use dry, mock or run.</source>
   <translation>„{0}“ ist kein Modus: dry, mock oder run.</translation>
  </message>
  <message>
   <source>Enable {0} before you run it.</source>
   <translation>Aktivieren Sie {0}, bevor Sie es ausführen.</translation>
  </message>
  <message>
   <source>Plugins are paused; resume them to run one.</source>
   <translation>Plugins sind pausiert; setzen Sie sie fort, um eines auszuführen.</translation>
  </message>
  <message>
   <source>Enable {0} first: even a trial runs its code.</source>
   <translation>Aktivieren Sie zuerst {0}: Schon ein Versuch führt seinen Code aus.</translation>
  </message>
  <message>
   <source>{0} has no secret '{1}'.</source>
   <translation>{0} hat keine Zugangsdaten „{1}“.</translation>
  </message>
  <message>
   <source>{0} has no tool '{1}'.</source>
   <translation>{0} hat kein Werkzeug „{1}“.</translation>
  </message>
  <message>
   <source>{0} has no option '{1}'.</source>
   <translation>{0} hat keine Option „{1}“.</translation>
  </message>
  <message>
   <source>Nobody signed in within {0:.0f} s.</source>
   <translation>Niemand hat sich innerhalb von {0:.0f} s angemeldet.</translation>
  </message>
  <message>
   <source>A plugin has at most {0} files and {1} MB.</source>
   <translation>Ein Plugin hat höchstens {0} Dateien und {1} MB.</translation>
  </message>
  <message>
   <source>There is no earlier version of {0}.</source>
   <translation>Es gibt keine frühere Version von {0}.</translation>
  </message>
  <message>
   <source>'{0}' cannot be a plugin's name.</source>
   <translation>„{0}“ kann kein Name eines Plugins sein.</translation>
  </message>
  <message>
   <source>{0} This archive has {1} entries.</source>
   <translation>{0} Dieses Archiv hat {1} Einträge.</translation>
  </message>
  <message>
   <source>The archive has no plugin.json at its root or in its one folder.</source>
   <translation>Das Archiv hat keine plugin.json, weder oben noch in seinem einen Ordner.</translation>
  </message>
  <message>
   <source>This is not a plugin: {0}</source>
   <translation>Das ist kein Plugin: {0}</translation>
  </message>
  <message>
   <source>{0} is a link; links are not copied.</source>
   <translation>{0} ist eine Verknüpfung; Verknüpfungen werden nicht kopiert.</translation>
  </message>
  <message>
   <source>{0} is not a zip file that can be unpacked.</source>
   <translation>{0} ist keine Zip-Datei, die sich entpacken lässt.</translation>
  </message>
  <message>
   <source>The archive has an entry that leads outside: '{0}'.</source>
   <translation>Das Archiv hat einen Eintrag, der nach außen führt: „{0}“.</translation>
  </message>
  <message>
   <source>The archive has an entry that is not a file: '{0}'.</source>
   <translation>Das Archiv hat einen Eintrag, der keine Datei ist: „{0}“.</translation>
  </message>
  <message>
   <source>The archive is encrypted.</source>
   <translation>Das Archiv ist verschlüsselt.</translation>
  </message>
  <message>
   <source>{0} '{1}' would go beyond that.</source>
   <translation>{0} „{1}“ ginge darüber hinaus.</translation>
  </message>
  <message>
   <source>'{0}' is larger than it says.</source>
   <translation>„{0}“ ist größer, als es angibt.</translation>
  </message>
  <message>
   <source>The dry run stops here: nothing was sent.</source>
   <translation>Der Trockenlauf endet hier: Nichts wurde gesendet.</translation>
  </message>
  <message>
   <source>Enable {0} first: even a trial of this step runs its code.</source>
   <translation>Aktivieren Sie {0} zuerst: Schon ein Versuch dieses Schritts führt seinen Code aus.</translation>
  </message>
  <message>
   <source>{0} is off: allow changing methods for {1} first.</source>
   <translation>{0} ist aus: Erlauben Sie {1} zuerst, zu ändern und zu löschen.</translation>
  </message>
  <message>
   <source>It said: {0}</source>
   <translation>Es meldete: {0}</translation>
  </message>
  <message>
   <source>Choose '{0}' for {1} under Plugins first.</source>
   <translation>Wählen Sie zuerst „{0}“ für {1} unter „Plugins“.</translation>
  </message>
  <message>
   <source>{0} has no MCP server '{1}'.</source>
   <translation>{0} hat keinen MCP-Server „{1}“.</translation>
  </message>
  <message>
   <source>{0} has no endpoint '{1}'.</source>
   <translation>{0} hat keinen Endpunkt „{1}“.</translation>
  </message>
  <message>
   <source>A tool may only read over HTTP; declare an API to change things.</source>
   <translation>Ein Werkzeug darf über HTTP nur lesen; um zu ändern, geben Sie eine API an.</translation>
  </message>
  <message>
   <source>{0} did not list its tools: {1}</source>
   <translation>{0} hat seine Werkzeuge nicht aufgelistet: {1}</translation>
  </message>
  <message>
   <source>no answer.</source>
   <translation>keine Antwort.</translation>
  </message>
  <message>
   <source>Sign-in needed: {0} has no '{1}' yet. Enter it under Plugins.</source>
   <translation>Anmeldung nötig: {0} hat noch kein „{1}“. Tragen Sie es unter „Plugins“ ein.</translation>
  </message>
  <message>
   <source>The provider's identity does not match.</source>
   <translation>Die Identität des Anbieters stimmt nicht überein.</translation>
  </message>
  <message>
   <source>The provider gives no safe address to sign in at.</source>
   <translation>Der Anbieter nennt keine sichere Adresse zum Anmelden.</translation>
  </message>
  <message>
   <source>The provider gave no usable token.</source>
   <translation>Der Anbieter gab kein brauchbares Token.</translation>
  </message>
  <message>
   <source>The provider refused the sign-in (status {0}).</source>
   <translation>Der Anbieter lehnte die Anmeldung ab (Status {0}).</translation>
  </message>
  <message>
   <source>The sign-in has expired. Sign in again under Plugins.</source>
   <translation>Die Anmeldung ist abgelaufen. Melden Sie sich unter „Plugins“ neu an.</translation>
  </message>
  <message>
   <source>The provider could not be reached to sign in.</source>
   <translation>Der Anbieter war für die Anmeldung nicht zu erreichen.</translation>
  </message>
  <message>
   <source>The provider did not sign you in.</source>
   <translation>Der Anbieter hat Sie nicht angemeldet.</translation>
  </message>
  <message>
   <source>The plugin's code sent an unexpected answer and was stopped.</source>
   <translation>Der Code des Plugins hat eine unerwartete Antwort gesendet und wurde beendet.</translation>
  </message>
  <message>
   <source>The plugin's code {0}.</source>
   <translation>Der Code des Plugins {0}.</translation>
  </message>
  <message>
   <source>The tool {0} failed: {1}</source>
   <translation>Das Werkzeug {0} ist gescheitert: {1}</translation>
  </message>
  <message>
   <source>The plugin's code fails: {0}</source>
   <translation>Der Code des Plugins scheitert: {0}</translation>
  </message>
  <message>
   <source>The plugin's code does not start in time.</source>
   <translation>Der Code des Plugins startet nicht rechtzeitig.</translation>
  </message>
  <message>
   <source>The tool's result is too large.</source>
   <translation>Das Ergebnis des Werkzeugs ist zu groß.</translation>
  </message>
  <message>
   <source>Moat refused a connection that its program wanted: {0}</source>
   <translation>Moat hat eine Verbindung verweigert, die das Programm wollte: {0}</translation>
  </message>
  <message>
   <source>{0} has ended.</source>
   <translation>{0} hat sich beendet.</translation>
  </message>
  <message>
   <source>{0} took longer than {1:.0f} s. It must read and write one JSON message per line, without Content-Length headers. Its log shows what it printed.</source>
   <translation>{0} hat innerhalb von {1:.0f} s nicht geantwortet. Es muss je Zeile eine JSON-Nachricht lesen und schreiben, ohne Content-Length-Kopfzeilen. Was es ausgegeben hat, steht in seinem Protokoll.</translation>
  </message>
  <message>
   <source>{0} lists no MCP servers ('mcpServers' or 'servers').</source>
   <translation>{0} führt keine MCP-Server auf („mcpServers“ oder „servers“).</translation>
  </message>
  <message>
   <source>{0} lists more than {1} MCP servers.</source>
   <translation>{0} führt mehr als {1} MCP-Server auf.</translation>
  </message>
  <message>
   <source>There is no common MCP server '{0}'.</source>
   <translation>Es gibt keinen gebräuchlichen MCP-Server „{0}“.</translation>
  </message>
  <message>
   <source>The MCP server '{0}' takes no hosts.</source>
   <translation>Der MCP-Server „{0}“ nimmt keine Hosts an.</translation>
  </message>
  <message>
   <source>Name the hosts that '{0}' may reach.</source>
   <translation>Nennen Sie die Hosts, die „{0}“ erreichen darf.</translation>
  </message>
  <message>
   <source>'{0}' is not a host.</source>
   <translation>„{0}“ ist kein Host.</translation>
  </message>
  <message>
   <source>The MCP server '{0}' of {1} is not an object.</source>
   <translation>Der MCP-Server „{0}“ in {1} ist kein Objekt.</translation>
  </message>
  <message>
   <source>The MCP server '{0}' of {1} has no command and no address.</source>
   <translation>Der MCP-Server „{0}“ in {1} hat weder Befehl noch Adresse.</translation>
  </message>
  <message>
   <source>The MCP server '{0}' has a variable in its arguments.</source>
   <translation>Der MCP-Server „{0}“ hat eine Variable in seinen Argumenten.</translation>
  </message>
  <message>
   <source>The MCP server '{0}' speaks SSE, which the protocol has given up.</source>
   <translation>Der MCP-Server „{0}“ verwendet SSE, das in MCP nicht mehr vorgesehen ist.</translation>
  </message>
  <message>
   <source>The address of the MCP server '{0}' cannot be used.</source>
   <translation>Die Adresse des MCP-Servers „{0}“ ist nicht verwendbar.</translation>
  </message>
  <message>
   <source>{0} has two servers that would be called '{1}'.</source>
   <translation>{0} hat zwei Server, die „{1}“ heißen würden.</translation>
  </message>
  <message>
   <source>{0} cannot be read: {1}.</source>
   <translation>{0} ist nicht lesbar: {1}.</translation>
  </message>
  <message>
   <source>{0} is not JSON.</source>
   <translation>{0} ist kein JSON.</translation>
  </message>
  <message>
   <source>{0} did not ask for a sign-in.</source>
   <translation>{0} hat keine Anmeldung verlangt.</translation>
  </message>
  <message>
   <source>{0} did not sign you in: {1}</source>
   <translation>{0} hat Sie nicht angemeldet: {1}</translation>
  </message>
  <message>
   <source>The package {0} of {1} could not be fetched in time ({2} MB arrived).</source>
   <translation>Das Paket {0} von {1} konnte nicht rechtzeitig geholt werden ({2} MB sind angekommen).</translation>
  </message>
  <message>
   <source>Its packages took more than {0} MB and were removed.</source>
   <translation>Die Pakete brauchten mehr als {0} MB und wurden entfernt.</translation>
  </message>
  <message>
   <source>The package {0} is there after {1:.0f} s ({2:.1f} MB). It is kept for the next start.</source>
   <translation>Das Paket {0} ist nach {1:.0f} s da ({2:.1f} MB). Es bleibt für den nächsten Start.</translation>
  </message>
  <message>
   <source>Fetching the package {0}: {1:.1f} MB so far</source>
   <translation>Das Paket {0} wird geholt: bisher {1:.1f} MB</translation>
  </message>
  <message>
   <source>{0} did not start within {1:.0f} s.</source>
   <translation>{0} ist nicht innerhalb von {1:.0f} s gestartet.</translation>
  </message>
  <message>
   <source>It was ended: its packages take more than {0} MB.</source>
   <translation>Es wurde beendet: Die Pakete brauchen mehr als {0} MB.</translation>
  </message>
  <message>
   <source>The package {0} was not fetched.</source>
   <translation>Das Paket {0} wurde nicht geholt.</translation>
  </message>
  <message>
   <source>{0} cannot be started: {1}.</source>
   <translation>{0} lässt sich nicht starten: {1}.</translation>
  </message>
  <message>
   <source>The program {0} is not installed on this computer, or its folder is not in the variable PATH.</source>
   <translation>Das Programm {0} ist auf diesem Computer nicht installiert, oder sein Ordner steht nicht in der Variablen PATH.</translation>
  </message>
  <message>
   <source>This sandbox is available on Linux only.</source>
   <translation>Diese Sandbox gibt es nur unter Linux.</translation>
  </message>
  <message>
   <source>The MCP server has ended.</source>
   <translation>Der MCP-Server hat sich beendet.</translation>
  </message>
  <message>
   <source>The MCP server's answer is too large.</source>
   <translation>Die Antwort des MCP-Servers ist zu groß.</translation>
  </message>
  <message>
   <source>The MCP server could not be reached: {0}.</source>
   <translation>Der MCP-Server war nicht zu erreichen: {0}.</translation>
  </message>
  <message>
   <source>The MCP server gave no answer.</source>
   <translation>Der MCP-Server gab keine Antwort.</translation>
  </message>
  <message>
   <source>The MCP server answered with status {0}.</source>
   <translation>Der MCP-Server antwortete mit Status {0}.</translation>
  </message>
  <message>
   <source>The MCP server's answer is nested too deep.</source>
   <translation>Die Antwort des MCP-Servers ist zu tief verschachtelt.</translation>
  </message>
  <message>
   <source>{0} wants you to sign in. Do so under Plugins.</source>
   <translation>{0} verlangt, dass Sie sich anmelden. Tun Sie es unter Plugins.</translation>
  </message>
  <message>
   <source>{0} gives no safe address to sign in at.</source>
   <translation>{0} nennt keine sichere Adresse für die Anmeldung.</translation>
  </message>
  <message>
   <source>The sign-in was given up.</source>
   <translation>Die Anmeldung wurde abgebrochen.</translation>
  </message>
  <message>
   <source>Too many requests at once.</source>
   <translation>Zu viele Anfragen auf einmal.</translation>
  </message>
  <message>
   <source>Moat has nothing at {0}.</source>
   <translation>Unter {0} hat Moat nichts.</translation>
  </message>
  <message>
   <source>The body is empty; JSON is expected.</source>
   <translation>Die Anfrage ist leer; erwartet wird JSON.</translation>
  </message>
  <message>
   <source>The body is packed in a way that is not known: use gzip or deflate.</source>
   <translation>Der Inhalt ist auf unbekannte Weise komprimiert: Verwenden Sie gzip oder deflate.</translation>
  </message>
  <message>
   <source>The body has more than {0} bytes when it is unpacked.</source>
   <translation>Der Inhalt hat entpackt mehr als {0} Bytes.</translation>
  </message>
  <message>
   <source>A form may not be packed.</source>
   <translation>Ein Formular darf nicht komprimiert sein.</translation>
  </message>
  <message>
   <source>The request's body took too long to arrive.</source>
   <translation>Die Anfrage kam zu langsam an.</translation>
  </message>
  <message>
   <source>The body is broken, or not packed as its headers say.</source>
   <translation>Der Inhalt der Anfrage ist beschädigt oder nicht so gepackt, wie ihre Kopfzeilen sagen.</translation>
  </message>
  <message>
   <source>The body is not valid JSON: {0}.</source>
   <translation>Die Anfrage ist kein gültiges JSON: {0}.</translation>
  </message>
  <message>
   <source>'{0}' is longer than {1} characters.</source>
   <translation>„{0}“ ist länger als {1} Zeichen.</translation>
  </message>
  <message>
   <source>The body is no form that can be read.</source>
   <translation>Der Inhalt ist kein lesbares Formular.</translation>
  </message>
  <message>
   <source>A form may hold {0} MB.</source>
   <translation>Ein Formular darf {0} MB enthalten.</translation>
  </message>
  <message>
   <source>The form has too many parts, or forms inside it.</source>
   <translation>Das Formular hat zu viele Teile oder enthält weitere Formulare.</translation>
  </message>
  <message>
   <source>The system refused. The log says more.</source>
   <translation>Das System hat es verweigert. Mehr steht im Protokoll.</translation>
  </message>
  <message>
   <source>There is no such command.</source>
   <translation>Diesen Befehl gibt es nicht.</translation>
  </message>
  <message>
   <source>The system refused: {0}.</source>
   <translation>Das System hat es verweigert: {0}.</translation>
  </message>
  <message>
   <source>{0} takes {1} only.</source>
   <translation>{0} nimmt nur {1} an.</translation>
  </message>
  <message>
   <source>The command's arguments are wrong: {0}</source>
   <translation>Die Argumente des Befehls sind falsch: {0}</translation>
  </message>
  <message>
   <source>The body is larger than Moat's settings allow.</source>
   <translation>Der Inhalt ist größer, als die Einstellungen von Moat erlauben.</translation>
  </message>
  <message>
   <source>Send Moat's access key as a bearer token. The Connect page shows it.</source>
   <translation>Senden Sie den Zugangsschlüssel von Moat als Bearer-Token. Die Seite „Verbinden“ zeigt ihn.</translation>
  </message>
  <message>
   <source>Send application/json.</source>
   <translation>Senden Sie application/json.</translation>
  </message>
  <message>
   <source>This page may not use Moat.</source>
   <translation>Diese Seite darf Moat nicht benutzen.</translation>
  </message>
  <message>
   <source>Port {0} is taken{1}; {2} uses {3}.</source>
   <translation>Port {0} ist belegt{1}; {2} benutzt {3}.</translation>
  </message>
  <message>
   <source>The system refused.</source>
   <translation>Das System hat es verweigert.</translation>
  </message>
  <message>
   <source>The server cannot listen: {0}</source>
   <translation>Der Server kann keinen Port öffnen: {0}</translation>
  </message>
  <message>
   <source>HTTPS cannot be served: {0}</source>
   <translation>HTTPS kann nicht angeboten werden: {0}</translation>
  </message>
  <message>
   <source>Port {0} is taken{1}.</source>
   <translation>Port {0} ist belegt{1}.</translation>
  </message>
  <message>
   <source>The log says more.</source>
   <translation>Mehr steht im Protokoll.</translation>
  </message>
  <message>
   <source>No free port was found from {0} on.</source>
   <translation>Ab {0} wurde kein freier Port gefunden.</translation>
  </message>
  <message>
   <source>Port {0} is taken.</source>
   <translation>Port {0} ist belegt.</translation>
  </message>
  <message>
   <source>Tool: {0}</source>
   <translation>Werkzeug: {0}</translation>
  </message>
  <message>
   <source>remote agents</source>
   <translation>Agenten auf anderen Servern</translation>
  </message>
  <message>
   <source>testing a remote engine</source>
   <translation>Test einer Engine auf einem anderen Server</translation>
  </message>
  <message>
   <source>the engine {0}</source>
   <translation>die Engine {0}</translation>
  </message>
  <message>
   <source>fetching support for graphics cards</source>
   <translation>Unterstützung für Grafikkarten laden</translation>
  </message>
  <message>
   <source>looking for support for graphics cards</source>
   <translation>nach Unterstützung für Grafikkarten suchen</translation>
  </message>
  <message>
   <source>check for updates</source>
   <translation>Suche nach Updates</translation>
  </message>
  <message>
   <source>access violation</source>
   <translation>Zugriffsverletzung</translation>
  </message>
  <message>
   <source>illegal instruction</source>
   <translation>unzulässiger Befehl</translation>
  </message>
  <message>
   <source>stack overflow</source>
   <translation>Stapelüberlauf</translation>
  </message>
  <message>
   <source>it aborted</source>
   <translation>sie brach ab</translation>
  </message>
  <message>
   <source>out of memory</source>
   <translation>zu wenig Speicher</translation>
  </message>
  <message>
   <source>segmentation fault</source>
   <translation>Speicherzugriffsfehler</translation>
  </message>
  <message>
   <source>an instruction this processor does not have</source>
   <translation>ein Befehl, den dieser Prozessor nicht hat</translation>
  </message>
  <message>
   <source>bad memory access</source>
   <translation>falscher Speicherzugriff</translation>
  </message>
  <message>
   <source>arithmetic fault</source>
   <translation>Rechenfehler</translation>
  </message>
  <message>
   <source>killed, perhaps because memory ran out</source>
   <translation>beendet, vielleicht weil der Speicher ausging</translation>
  </message>
  <message>
   <source>asked to end</source>
   <translation>zum Beenden aufgefordert</translation>
  </message>
  <message>
   <source>it exited by itself (code {0})</source>
   <translation>sie endete von selbst (Code {0})</translation>
  </message>
  <message>
   <source>killed by signal {0} ({1})</source>
   <translation>beendet durch Signal {0} ({1})</translation>
  </message>
  <message>
   <source>ended with code {0:#x} ({1})</source>
   <translation>beendet mit Code {0:#x} ({1})</translation>
  </message>
  <message>
   <source>about {0}</source>
   <translation>etwa {0}</translation>
  </message>
  <message>
   <source>unknown</source>
   <translation>unbekannt</translation>
  </message>
  <message>
   <source>the engine on another machine</source>
   <translation>die Engine auf einem anderen Rechner</translation>
  </message>
  <message>
   <source>none</source>
   <translation>keine</translation>
  </message>
  <message>
   <source>status {0}</source>
   <translation>Status {0}</translation>
  </message>
  <message>
   <source>Looking at the graphics card. At its first use, its driver may take minutes.</source>
   <translation>Die Grafikkarte wird geprüft. Bei ihrer ersten Verwendung kann ihr Treiber Minuten brauchen.</translation>
  </message>
  <message>
   <source>it sent something that is no message</source>
   <translation>sie hat etwas gesendet, das keine Nachricht ist</translation>
  </message>
  <message>
   <source>it closed its pipe</source>
   <translation>sie schloss ihre Leitung</translation>
  </message>
  <message>
   <source>it was halted by a signal and did not go on</source>
   <translation>sie wurde durch ein Signal angehalten und lief nicht weiter</translation>
  </message>
  <message>
   <source>it did not respond for {0:g} s</source>
   <translation>sie reagierte {0:g} s lang nicht</translation>
  </message>
  <message>
   <source>loading made no progress for {0:g} s</source>
   <translation>das Laden kam {0:g} s lang nicht voran</translation>
  </message>
  <message>
   <source>it made no progress on an answer for {0:g} s</source>
   <translation>sie kam mit einer Antwort {0:g} s lang nicht voran</translation>
  </message>
  <message>
   <source>its output is too long</source>
   <translation>ihre Ausgabe ist zu lang</translation>
  </message>
  <message>
   <source>it took too much memory</source>
   <translation>sie nahm zu viel Speicher</translation>
  </message>
  <message>
   <source>it ran longer than {0:g} seconds</source>
   <translation>sie lief länger als {0:g} Sekunden</translation>
  </message>
  <message>
   <source>the render process ended</source>
   <translation>der Prozess zum Ausfüllen hat sich beendet</translation>
  </message>
  <message>
   <source>Calling {0}</source>
   <translation>Ruft {0} auf</translation>
  </message>
  <message>
   <source>Chose {0}</source>
   <translation>Wählte {0}</translation>
  </message>
  <message>
   <source>Drew a {0} chart</source>
   <translation>Zeichnete ein Diagramm ({0})</translation>
  </message>
  <message>
   <source>The model took longer than {0:.0f} s.</source>
   <translation>Das Modell brauchte länger als {0:.0f} s.</translation>
  </message>
  <message>
   <source>{0} rows</source>
   <translation>{0} Zeilen</translation>
  </message>
  <message>
   <source>{0} of the {1} free</source>
   <translation>{0} von den freien {1}</translation>
  </message>
  <message>
   <source>It needs {0} and {1} are free</source>
   <translation>Es braucht {0}, und {1} sind frei</translation>
  </message>
  <message>
   <source>{0} on the graphics card, {1} in memory</source>
   <translation>{0} auf der Grafikkarte, {1} im Speicher</translation>
  </message>
  <message>
   <source>The graphics card</source>
   <translation>Die Grafikkarte</translation>
  </message>
  <message>
   <source>{0} (number {1})</source>
   <translation>{0} (Nummer {1})</translation>
  </message>
  <message>
   <source>{0} tokens of context instead of {1}</source>
   <translation>{0} Token Kontext statt {1}</translation>
  </message>
  <message>
   <source>{0} layers on the graphics card</source>
   <translation>{0} Schichten auf der Grafikkarte</translation>
  </message>
  <message>
   <source>the experts of {0} layers on the processor</source>
   <translation>den Experten von {0} Schichten auf dem Prozessor</translation>
  </message>
  <message>
   <source>{0} answers at the same time instead of {1}</source>
   <translation>Antworten zugleich: {0} statt {1}</translation>
  </message>
  <message>
   <source>a {0} cache</source>
   <translation>ein {0}-Cache</translation>
  </message>
  <message>
   <source>it is not the first file of a split model</source>
   <translation>es ist nicht die erste Datei eines geteilten Modells</translation>
  </message>
  <message>
   <source>it is one of {0} files, but its name speaks of {1}</source>
   <translation>es ist eine von {0} Dateien, aber der Name spricht von {1}</translation>
  </message>
  <message>
   <source>its files hold {0} tensors instead of {1}</source>
   <translation>die Dateien enthalten {0} statt {1} Tensoren</translation>
  </message>
  <message>
   <source>it cannot be read ({0})</source>
   <translation>nicht zu lesen ({0})</translation>
  </message>
  <message>
   <source>file {0} of {1} is missing ({2})</source>
   <translation>Datei {0} von {1} fehlt ({2})</translation>
  </message>
  <message>
   <source>file {0} says it is another part</source>
   <translation>Datei {0} gibt sich als anderer Teil aus</translation>
  </message>
  <message>
   <source>it ends in the middle of its header</source>
   <translation>sie endet mitten im Kopf</translation>
  </message>
  <message>
   <source>the name of a tensor</source>
   <translation>der Name eines Tensors</translation>
  </message>
  <message>
   <source>it does not begin with the GGUF mark, so it is another kind of file</source>
   <translation>sie beginnt nicht mit dem GGUF-Zeichen, ist also eine Datei anderer Art</translation>
  </message>
  <message>
   <source>version {0}</source>
   <translation>Version {0}</translation>
  </message>
  <message>
   <source>it is a {0} GGUF file; only versions 2 and 3 can be read</source>
   <translation>es ist eine GGUF-Datei ({0}); nur die Versionen 2 und 3 sind lesbar</translation>
  </message>
  <message>
   <source>it claims {0} tensors (at most {1} are allowed)</source>
   <translation>sie nennt {0} Tensoren (höchstens {1} sind erlaubt)</translation>
  </message>
  <message>
   <source>it claims {0} metadata entries (at most {1})</source>
   <translation>sie nennt {0} Metadaten (höchstens {1})</translation>
  </message>
  <message>
   <source>the name of metadata entry {0}</source>
   <translation>der Name des Metadatums {0}</translation>
  </message>
  <message>
   <source>{0} has the unknown type {1}</source>
   <translation>{0} hat den unbekannten Typ {1}</translation>
  </message>
  <message>
   <source>{0} is not a number</source>
   <translation>{0} ist keine Zahl</translation>
  </message>
  <message>
   <source>{0} claims {1} entries (at most {2} are allowed)</source>
   <translation>{0} nennt {1} Einträge (höchstens {2} sind erlaubt)</translation>
  </message>
  <message>
   <source>{0} is an array of the unknown type {1}</source>
   <translation>{0} ist eine Liste vom unbekannten Typ {1}</translation>
  </message>
  <message>
   <source>its list of token types holds unknown types</source>
   <translation>die Liste der Tokentypen enthält unbekannte Typen</translation>
  </message>
  <message>
   <source>it has more than {0} strings</source>
   <translation>sie hat mehr als {0} Texte</translation>
  </message>
  <message>
   <source>a tensor's name has characters not allowed (at byte {0})</source>
   <translation>der Name eines Tensors hat unerlaubte Zeichen (bei Byte {0})</translation>
  </message>
  <message>
   <source>the tensor {0} has {1} dimensions</source>
   <translation>der Tensor {0} hat {1} Dimensionen</translation>
  </message>
  <message>
   <source>the tensor {0} has the impossible shape {1}</source>
   <translation>der Tensor {0} hat die unmögliche Form {1}</translation>
  </message>
  <message>
   <source>the tensor {0} has the unknown number format {1}</source>
   <translation>der Tensor {0} hat das unbekannte Zahlenformat {1}</translation>
  </message>
  <message>
   <source>the rows of the tensor {0} ({1}) are not whole {2} blocks</source>
   <translation>die Zeilen des Tensors {0} ({1}) sind keine ganzen {2}-Blöcke</translation>
  </message>
  <message>
   <source>the alignment {0} is not a power of two</source>
   <translation>die Ausrichtung {0} ist keine Zweierpotenz</translation>
  </message>
  <message>
   <source>it ends in the middle of its header (at byte {0})</source>
   <translation>sie endet mitten im Kopf (bei Byte {0})</translation>
  </message>
  <message>
   <source>the length of {0} is {1} bytes (at most {2} are allowed)</source>
   <translation>die Länge ist {1} Bytes (höchstens {2} sind erlaubt): {0}</translation>
  </message>
  <message>
   <source>the name of metadata entry {0} has characters not allowed</source>
   <translation>der Name des Metadatums {0} hat unerlaubte Zeichen</translation>
  </message>
  <message>
   <source>the metadata entry {0} is there twice</source>
   <translation>das Metadatum {0} kommt zweimal vor</translation>
  </message>
  <message>
   <source>{0} should be true or false but is {1}</source>
   <translation>{0} sollte wahr oder falsch sein, ist aber {1}</translation>
  </message>
  <message>
   <source>entry {0} of {1}</source>
   <translation>Eintrag {0} von {1}</translation>
  </message>
  <message>
   <source>the length of entry {0} of {1} is {2} bytes</source>
   <translation>die Länge von Eintrag {0} von {1} ist {2} Bytes</translation>
  </message>
  <message>
   <source>the tensor {0} is there twice</source>
   <translation>der Tensor {0} kommt zweimal vor</translation>
  </message>
  <message>
   <source>the tensor {0} lies at {1} instead of {2}</source>
   <translation>der Tensor {0} liegt bei {1} statt {2}</translation>
  </message>
  <message>
   <source>the tensor {0} ends {1} bytes behind the file's end</source>
   <translation>der Tensor {0} endet {1} Bytes hinter dem Dateiende</translation>
  </message>
  <message>
   <source>its header is larger than {0:.0f} MB</source>
   <translation>der Kopf ist größer als {0:.0f} MB</translation>
  </message>
  <message>
   <source>{0} is not valid text (before byte {1})</source>
   <translation>kein gültiger Text: {0} (vor Byte {1})</translation>
  </message>
  <message>
   <source>an adapter for one</source>
   <translation>ein Adapter für eines</translation>
  </message>
  <message>
   <source>a matrix of importance</source>
   <translation>eine Wichtigkeitsmatrix</translation>
  </message>
  <message>
   <source>it holds no tensors</source>
   <translation>sie enthält keine Tensoren</translation>
  </message>
  <message>
   <source>it has no layers</source>
   <translation>sie hat keine Schichten</translation>
  </message>
  <message>
   <source>it does not say which architecture the model has</source>
   <translation>sie sagt nicht, welche Architektur das Modell hat</translation>
  </message>
  <message>
   <source>it is not a model but {0}</source>
   <translation>sie ist kein Modell, sondern {0}</translation>
  </message>
  <message>
   <source>its vocabulary has {0} tokens</source>
   <translation>das Vokabular hat {0} Token</translation>
  </message>
  <message>
   <source>the tensor output_norm.weight has shape {0} instead of ({1},)</source>
   <translation>der Tensor output_norm.weight hat die Form {0} statt ({1},)</translation>
  </message>
  <message>
   <source>it says it has {0} layers, but holds tensors of {1}</source>
   <translation>sie nennt {0} Schichten, enthält aber Tensoren von {1}</translation>
  </message>
  <message>
   <source>the tensor blk.0.{0} is missing</source>
   <translation>der Tensor blk.0.{0} fehlt</translation>
  </message>
  <message>
   <source>{0} attention heads cannot share {1} key heads</source>
   <translation>{0} Attention-Köpfe können sich nicht {1} Key-Köpfe teilen</translation>
  </message>
  <message>
   <source>rope.dimension_count is {0} for heads of {1}</source>
   <translation>rope.dimension_count ist {0} bei Köpfen von {1}</translation>
  </message>
  <message>
   <source>{0} is not text</source>
   <translation>{0} ist kein Text</translation>
  </message>
  <message>
   <source>the name of its architecture has characters not allowed</source>
   <translation>der Name ihrer Architektur enthält unzulässige Zeichen</translation>
  </message>
  <message>
   <source>{0}.{1} is missing</source>
   <translation>{0}.{1} fehlt</translation>
  </message>
  <message>
   <source>tokenizer.ggml.{0} is not a list of {1}</source>
   <translation>tokenizer.ggml.{0} ist keine Liste von {1}</translation>
  </message>
  <message>
   <source>tokenizer.ggml.{0}_token_id is {1}, but there are {2} tokens</source>
   <translation>tokenizer.ggml.{0}_token_id ist {1}, aber es gibt {2} Token</translation>
  </message>
  <message>
   <source>the token table is {0} wide, embedding_length says {1}</source>
   <translation>die Tokentabelle ist {0} breit, embedding_length sagt {1}</translation>
  </message>
  <message>
   <source>the token table has shape {0} for {1} tokens</source>
   <translation>die Tokentabelle hat die Form {0} bei {1} Token</translation>
  </message>
  <message>
   <source>the token table (token_embd.weight) is missing</source>
   <translation>die Tokentabelle (token_embd.weight) fehlt</translation>
  </message>
  <message>
   <source>the tensor blk.{0}.{1} is missing or has no place</source>
   <translation>der Tensor blk.{0}.{1} fehlt oder hat keinen Platz</translation>
  </message>
  <message>
   <source>the tensor blk.0.{0} has shape {1} instead of {2}</source>
   <translation>der Tensor blk.0.{0} hat die Form {1} statt {2}</translation>
  </message>
  <message>
   <source>{0} is not a whole number</source>
   <translation>{0} ist keine ganze Zahl</translation>
  </message>
  <message>
   <source>tokenizer.ggml.{0} has {1} entries for {2} tokens</source>
   <translation>tokenizer.ggml.{0} hat {1} Einträge bei {2} Token</translation>
  </message>
  <message>
   <source>the tensor {0} has no place in a {1} model</source>
   <translation>der Tensor {0} hat in einem Modell der Art {1} keinen Platz</translation>
  </message>
  <message>
   <source>the tensor blk.{0}.{1} has shape {2} unlike in layer 0</source>
   <translation>der Tensor blk.{0}.{1} hat die Form {2}, anders als in Schicht 0</translation>
  </message>
  <message>
   <source>line {0}</source>
   <translation>Zeile {0}</translation>
  </message>
  <message>
   <source>searching for models</source>
   <translation>Suche nach Modellen</translation>
  </message>
  <message>
   <source>downloading a model</source>
   <translation>Laden eines Modells</translation>
  </message>
  <message>
   <source>damaged, or not a model</source>
   <translation>beschädigt oder kein Modell</translation>
  </message>
  <message>
   <source>Using {0}</source>
   <translation>Benutzt {0}</translation>
  </message>
  <message>
   <source>{0}: {1}</source>
   <translation>{0}: {1}</translation>
  </message>
  <message>
   <source>Step {0}</source>
   <translation>Schritt {0}</translation>
  </message>
  <message>
   <source>plugin {0}</source>
   <translation>Plugin {0}</translation>
  </message>
  <message>
   <source>{0} has not listed its tools yet …</source>
   <translation>{0} hat seine Werkzeuge noch nicht genannt …</translation>
  </message>
  <message>
   <source>Fetching the package {0}</source>
   <translation>Das Paket {0} wird geholt</translation>
  </message>
  <message>
   <source>took too much memory</source>
   <translation>nahm zu viel Speicher</translation>
  </message>
  <message>
   <source>ended unexpectedly</source>
   <translation>endete unerwartet</translation>
  </message>
  <message>
   <source>A web page is allowed as https://host or http://host:port.</source>
   <translation>Eine Webseite wird als https://host oder http://host:port erlaubt.</translation>
  </message>
  <message>
   <source>A proxy is written as http://host:port.</source>
   <translation>Ein Proxy wird als http://host:port geschrieben.</translation>
  </message>
  <message>
   <source>A proxy is written as 127.0.0.1 or 10.0.0.0/8.</source>
   <translation>Ein Proxy wird als 127.0.0.1 oder 10.0.0.0/8 geschrieben.</translation>
  </message>
  <message>
   <source>An engine is written as http://host:port/v1, without a name or password in it.</source>
   <translation>Eine Engine wird als http://host:port/v1 geschrieben, ohne Namen oder Passwort darin.</translation>
  </message>
  <message>
   <source>{0:.1f} GB</source>
   <translation>{0:.1f} GB</translation>
  </message>
  <message>
   <source>another program</source>
   <translation>ein anderes Programm</translation>
  </message>
  <message>
   <source>{0} (process {1})</source>
   <translation>{0} (Prozess {1})</translation>
  </message>
  <message>
   <source> by {0}</source>
   <translation> durch {0}</translation>
  </message>
  <message>
   <source>Short answers on very small machines; reads pictures.</source>
   <translation>Kurze Antworten auf sehr kleinen Rechnern; liest Bilder.</translation>
  </message>
  <message>
   <source>Fast and small; simple questions, simple tool calls.</source>
   <translation>Schnell und klein; einfache Fragen, einfache Werkzeugaufrufe.</translation>
  </message>
  <message>
   <source>Simple questions and tool calls on a small laptop; reads pictures.</source>
   <translation>Einfache Fragen und Werkzeugaufrufe auf einem kleinen Laptop; liest Bilder.</translation>
  </message>
  <message>
   <source>A good start on a laptop without a graphics card; calls tools.</source>
   <translation>Ein guter Anfang auf einem Laptop ohne Grafikkarte; ruft Werkzeuge auf.</translation>
  </message>
  <message>
   <source>Business texts, summaries, long documents; calls tools.</source>
   <translation>Geschäftstexte, Zusammenfassungen, lange Dokumente; ruft Werkzeuge auf.</translation>
  </message>
  <message>
   <source>European languages, tool calls, pictures; small.</source>
   <translation>Europäische Sprachen, Werkzeugaufrufe, Bilder; klein.</translation>
  </message>
  <message>
   <source>Reasoning, tables, tool calls; keeps long conversations quick.</source>
   <translation>Schlussfolgern, Tabellen, Werkzeugaufrufe; bleibt auch in langen Gesprächen schnell.</translation>
  </message>
  <message>
   <source>The best of the small ones: reasoning, tables, tool calls, pictures.</source>
   <translation>Das beste unter den kleinen: Schlussfolgern, Tabellen, Werkzeugaufrufe, Bilder.</translation>
  </message>
  <message>
   <source>Many languages and pictures on a small laptop; calls tools.</source>
   <translation>Viele Sprachen und Bilder auf einem kleinen Laptop; ruft Werkzeuge auf.</translation>
  </message>
  <message>
   <source>Many languages, pictures and charts; calls tools.</source>
   <translation>Viele Sprachen, Bilder und Diagramme; ruft Werkzeuge auf.</translation>
  </message>
  <message>
   <source>Several languages, long texts, thinking when asked.</source>
   <translation>Mehrere Sprachen, lange Texte, denkt auf Wunsch nach.</translation>
  </message>
  <message>
   <source>Sound analysis and reliable tool calls; needs 8 GB of free memory.</source>
   <translation>Gründliche Analyse und verlässliche Werkzeugaufrufe; braucht 8 GB freien Speicher.</translation>
  </message>
  <message>
   <source>Very quick on a processor; its licence limits large companies.</source>
   <translation>Sehr schnell auf einem Prozessor; die Lizenz schränkt große Unternehmen ein.</translation>
  </message>
  <message>
   <source>European languages, careful tool calls, pictures.</source>
   <translation>Europäische Sprachen, sorgfältige Werkzeugaufrufe, Bilder.</translation>
  </message>
  <message>
   <source>Enterprise texts, citations from documents, tool calls.</source>
   <translation>Unternehmenstexte, Zitate aus Dokumenten, Werkzeugaufrufe.</translation>
  </message>
  <message>
   <source>Sound analysis, reliable tool calls, charts and scanned pages.</source>
   <translation>Gründliche Analysen, verlässliche Werkzeugaufrufe, Diagramme und gescannte Seiten.</translation>
  </message>
  <message>
   <source>Many languages, long texts, pictures; best with a graphics card.</source>
   <translation>Viele Sprachen, lange Texte, Bilder; am besten mit einer Grafikkarte.</translation>
  </message>
  <message>
   <source>European languages, deeper analysis, pictures; best with a graphics card.</source>
   <translation>Europäische Sprachen, tiefere Analysen, Bilder; am besten mit einer Grafikkarte.</translation>
  </message>
  <message>
   <source>Deeper analysis; best with a graphics card of 12 GB or more.</source>
   <translation>Tiefere Analyse; am besten mit einer Grafikkarte ab 12 GB.</translation>
  </message>
  <message>
   <source>Strong reasoning and tool calls; quick for its size.</source>
   <translation>Stark im Schlussfolgern und bei Werkzeugaufrufen; schnell für seine Größe.</translation>
  </message>
  <message>
   <source>Many languages and pictures; only a seventh of it works on each token.</source>
   <translation>Viele Sprachen und Bilder; je Token arbeitet nur ein Siebtel davon.</translation>
  </message>
  <message>
   <source>The newest of its kind: long tasks with tools; needs a graphics card.</source>
   <translation>Das neueste seiner Art: lange Aufgaben mit Werkzeugen; braucht eine Grafikkarte.</translation>
  </message>
  <message>
   <source>Deep analysis and long tasks with tools; needs a graphics card.</source>
   <translation>Tiefe Analysen und lange Aufgaben mit Werkzeugen; braucht eine Grafikkarte.</translation>
  </message>
  <message>
   <source>Many languages, careful reasoning, pictures; needs a large graphics card.</source>
   <translation>Viele Sprachen, sorgfältiges Schlussfolgern, Bilder; braucht eine große Grafikkarte.</translation>
  </message>
  <message>
   <source>Strong; only a tenth of it works on each token, so it runs on a processor.</source>
   <translation>Stark; je Token arbeitet nur ein Zehntel davon, darum läuft es auf einem Prozessor.</translation>
  </message>
  <message>
   <source>The strongest that runs on a processor: only a tenth of it works on each token.</source>
   <translation>Das stärkste, das auf einem Prozessor läuft: Je Token arbeitet nur ein Zehntel davon.</translation>
  </message>
  <message>
   <source>The strongest at reasoning in this list; for a workstation with a lot of memory.</source>
   <translation>Das stärkste dieser Liste im Schlussfolgern; für eine Workstation mit viel Speicher.</translation>
  </message>
  <message>
   <source>Finds passages in English documents.</source>
   <translation>Findet Stellen in englischen Dokumenten.</translation>
  </message>
  <message>
   <source>Finds passages in documents of many languages.</source>
   <translation>Findet Stellen in Dokumenten vieler Sprachen.</translation>
  </message>
  <message>
   <source>A trial server that shows all that MCP can do: try forms, progress and prompts with it.</source>
   <translation>Ein Probeserver, der alles zeigt, was MCP kann: Formulare, Fortschritt und Prompts zum Ausprobieren.</translation>
  </message>
  <message>
   <source>Nothing beside its package.</source>
   <translation>Nichts außer seinem Paket.</translation>
  </message>
  <message>
   <source>Fetches a web page and gives its text as Markdown.</source>
   <translation>Holt eine Webseite und gibt ihren Text als Markdown.</translation>
  </message>
  <message>
   <source>The hosts that you name, and the stores of its packages: it gets some by npm.</source>
   <translation>Die Hosts, die Sie nennen, und die Quellen seiner Pakete: Einige holt er mit npm.</translation>
  </message>
  <message>
   <source>Lists, searches and reads files.</source>
   <translation>Listet, durchsucht und liest Dateien.</translation>
  </message>
  <message>
   <source>The folders that you choose, to read.</source>
   <translation>Die Ordner, die Sie wählen, zum Lesen.</translation>
  </message>
  <message>
   <source>Folders that it may read</source>
   <translation>Ordner, die er lesen darf</translation>
  </message>
  <message>
   <source>Reads a Git repository: its state, its history, what changed.</source>
   <translation>Liest ein Git-Repository: Zustand, Verlauf, Änderungen.</translation>
  </message>
  <message>
   <source>The repository that you choose, to read.</source>
   <translation>Das Repository, das Sie wählen, zum Lesen.</translation>
  </message>
  <message>
   <source>The repository's folder</source>
   <translation>Der Ordner des Repositorys</translation>
  </message>
  <message>
   <source>Notes names and how they belong together, for as long as it runs.</source>
   <translation>Merkt sich Namen und wie sie zusammenhängen, solange er läuft.</translation>
  </message>
  <message>
   <source>Lets a model write its thoughts down step by step, and revise them.</source>
   <translation>Lässt ein Modell seine Gedanken Schritt für Schritt aufschreiben und überarbeiten.</translation>
  </message>
  <message>
   <source>Asks an SQLite database by SQL.</source>
   <translation>Fragt eine SQLite-Datenbank mit SQL ab.</translation>
  </message>
  <message>
   <source>The database that you choose, to read.</source>
   <translation>Die Datenbank, die Sie wählen, zum Lesen.</translation>
  </message>
  <message>
   <source>The database's file</source>
   <translation>Die Datei der Datenbank</translation>
  </message>
  <message>
   <source>Tells the time, and converts it between time zones.</source>
   <translation>Sagt die Uhrzeit und rechnet sie zwischen Zeitzonen um.</translation>
  </message>
 </context>
</TS>
