import {
  CopilotChat,
  CopilotKitProvider,
  useAgentContext,
  useFrontendTool,
  useHumanInTheLoop,
} from "@copilotkit/react-core/v2";
import "@copilotkit/react-core/v2/styles.css";
import { useState } from "react";
import { createRoot } from "react-dom/client";
import { z } from "zod";

function Page({ error }) {
  const [greeted, setGreeted] = useState("nobody");
  useAgentContext({ description: "Who was greeted", value: greeted });
  useFrontendTool({
    name: "sayHello",
    description: "Greets somebody by name",
    parameters: z.object({ name: z.string().describe("who to greet") }),
    handler: async ({ name }) => {
      setGreeted(name);
      return JSON.stringify({ greeted: name });
    },
  });
  useHumanInTheLoop({
    name: "confirmOrder",
    description: "Asks the person to confirm an order",
    parameters: z.object({ item: z.string().describe("what to order") }),
    render: ({ args, status, respond }) => (
      <button disabled={status !== "executing"} onClick={() => respond(`yes to ${args.item}`)}>
        Confirm {args.item}
      </button>
    ),
  });
  return (
    <>
      <h1 id="greeted">{greeted}</h1>
      <p id="error">{error}</p>
      <CopilotChat
        attachments={{ enabled: true, accept: "*/*" }}
        labels={{ welcomeMessageText: "Hello, this is the page." }}
      />
    </>
  );
}

function App() {
  const [error, setError] = useState("");
  const runtimeUrl = new URLSearchParams(location.search).get("runtime");
  return (
    <CopilotKitProvider
      runtimeUrl={runtimeUrl}
      enableInspector={false}
      onError={(event) => setError(event.error.message)}
    >
      <Page error={error} />
    </CopilotKitProvider>
  );
}

createRoot(document.getElementById("root")).render(<App />);
