import type { Instance } from "./types.js";

export function getSystemPrompt(): string {
  return (
    "You solve programming problems in Python 3. Think as long as you need, then give the whole " +
    "program in one fenced block labelled python. It is judged on hidden tests with a time limit."
  );
}

/** The problem as it is shown to a model: statement, code to start from, and the public tests. */
export function composeUserPrompt(instance: Instance): string {
  const parts = [
    `Problem ${instance.instanceId} (${instance.platform}, ${instance.difficulty})`,
    instance.problemStatement.trim(),
  ];
  if (instance.starterCode?.trim()) {
    parts.push(`Complete this code, and keep its names:\n\n${fenced("python", instance.starterCode)}`);
  } else parts.push("Read from standard input and write to standard output.");
  instance.publicTests.forEach(({ input, expectedOutput }, index) => {
    parts.push(`Test ${index + 1}\nInput:\n${fenced("", input)}\nOutput:\n${fenced("", expectedOutput)}`);
  });
  return parts.join("\n\n");
}

function fenced(label: string, text: string): string {
  return `\`\`\`${label}\n${text.replace(/\s+$/, "")}\n\`\`\``;
}
