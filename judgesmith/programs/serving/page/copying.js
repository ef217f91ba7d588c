// A judgement as something to take elsewhere: a command, or JSON.

// What nobody can see, or a terminal would obey, stays an escape.
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]/gu;
const escape = (one) =>
  Array.from({ length: one.length }, (_, n) => `\\u${one.charCodeAt(n).toString(16).padStart(4, "0")}`).join("");

export const visibleJson = (value, indent) =>
  JSON.stringify(value, null, indent).replace(UNSEEN, (one) => (one === "\n" && indent ? one : escape(one)));

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

// A command for a POSIX shell; a token is named by a variable and not written down.
export function asCurl(address, request, withToken) {
  const lines = [
    `curl -sS ${quoted(address)}`,
    "-H 'Content-Type: application/json'",
    ...(withToken ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    `--data-binary ${quoted(visibleJson(request))}`,
  ];
  return `${lines.join(" \\\n  ")}\n`;
}

export const asJson = (request, row) => `${visibleJson({ request, row }, 2)}\n`;

// Say whether a text went to the clipboard; browsers offer none to pages from other hosts over HTTP.
export async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
