const FENCE = /^[ \t]*(```+|~~~+)[ \t]*([^\s`]*)[^\n]*\n([\s\S]*?)^[ \t]*\1[ \t]*$/gm;
const LONGEST = 512 * 1024;

/**
 * The program in a reply: the last fenced block that is labelled as Python, else the last without a
 * label, else the whole text if it begins as a program does, else "". What follows `</think>` counts.
 */
export function extractPythonCode(reply: string): string {
  if (reply.length > LONGEST) return "";
  const said = reply.split("</think>").at(-1) ?? "";
  // A reply that was cut off has an open fence.
  const fences = [...said.matchAll(/^[ \t]*(```+|~~~+)/gm)];
  const closed = fences.length % 2 === 1 ? `${said}\n${fences.at(-1)?.[1]}` : said;
  const blocks = [...closed.matchAll(FENCE)].map(([, , label = "", code = ""]) => ({ label, code }));
  const labelled = blocks.filter(({ label }) => /^(python|py)[\d.]*$/i.test(label));
  const chosen = labelled.at(-1) ?? blocks.filter(({ label }) => label === "").at(-1);
  if (chosen !== undefined) return chosen.code.trimEnd() + "\n";
  const text = said.trim();
  return blocks.length === 0 && /^(def|class|import|from)\s|^[A-Za-z_][\w, ]*=/.test(text) ? text : "";
}
