import { CopilotKit, useCopilotAction, useCopilotReadable } from "@copilotkit/react-core";
import { CopilotChat } from "@copilotkit/react-ui";
import "@copilotkit/react-ui/styles.css";
import { useState } from "react";
import { createRoot } from "react-dom/client";

function Page() {
  const [greeted, setGreeted] = useState("nobody");
  useCopilotReadable({ description: "Who was greeted", value: greeted });
  useCopilotAction({
    name: "sayHello",
    description: "Greets somebody by name",
    parameters: [{ name: "name", type: "string", description: "who to greet", required: true }],
    handler: async ({ name }) => {
      setGreeted(name);
      return { greeted: name };
    },
  });
  useCopilotAction({
    name: "confirmOrder",
    description: "Asks the person to confirm an order",
    parameters: [{ name: "item", type: "string", description: "what to order", required: true }],
    renderAndWaitForResponse: ({ args, status, respond }) => (
      <button disabled={status !== "executing"} onClick={() => respond(`yes to ${args.item}`)}>
        Confirm {args.item}
      </button>
    ),
  });
  return (
    <>
      <h1 id="greeted">{greeted}</h1>
      <CopilotChat labels={{ initial: "Hello, this is the page." }} />
    </>
  );
}

const runtimeUrl = new URLSearchParams(location.search).get("runtime");

createRoot(document.getElementById("root")).render(
  <CopilotKit runtimeUrl={runtimeUrl} showDevConsole={true} enableInspector={false}>
    <Page />
  </CopilotKit>,
);
