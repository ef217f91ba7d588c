// Questions to the server, and in words why there is no answer. The token stays in memory.

const LONGEST = 500;
let token = "";

export class Refused extends Error {
  constructor(words, status = 0) {
    super(words);
    this.status = status;
  }
}

export const hasToken = () => token !== "";

// Take a token for this visit; return what is wrong with it, or nothing.
export function keepToken(given) {
  const trimmed = given.trim();
  if (!/^[\x21-\x7e]+$/.test(trimmed)) {
    return "A token is one word of letters, digits and signs, without accents or spaces.";
  }
  token = trimmed;
  return "";
}

export async function ask(path, body, signal) {
  const headers = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (token) headers.Authorization = `Bearer ${token}`;
  const method = body === undefined ? "GET" : "POST";
  const sent = body === undefined ? undefined : JSON.stringify(body);
  let reply, text;
  try {
    reply = await fetch(path, { method, headers, body: sent, signal, cache: "no-store" });
    text = await reply.text();
  } catch {
    if (signal?.aborted) throw new Refused("Stopped waiting. The texts are still here.");
    throw new Refused(
      "The server cannot be reached: it has stopped, or the network is gone. " +
        "The texts are still here; judge again when it is back.",
    );
  }
  const said = parsed(text);
  if (!reply.ok) throw new Refused(refusal(reply, said), reply.status);
  if (said === null || typeof said !== "object") {
    throw new Refused("The server answered with something else than JSON; is it judgesmith?");
  }
  return said;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function refusal(reply, said) {
  const own = [said?.error, said?.where, said?.hint]
    .filter((one) => typeof one === "string" && one)
    .map((one) => one.slice(0, LONGEST));
  switch (reply.status) {
    case 401:
      return token ? "The server does not know this token." : "This server asks for a token.";
    case 429:
      return `The server is busy: no more texts fit in its queue. ${again(reply)} The texts are still here.`;
    case 503:
      if (own.length && said.where !== "server") return `The server could not judge: ${own.join(" — ")}`;
      return "The server is stopping and takes no more texts. They are still here; judge again when it is back.";
    default:
      return own.length
        ? `The server ${reply.status < 500 ? "refused" : "could not judge"}: ${own.join(" — ")}`
        : `The server answered with status ${reply.status}, and without a reason.`;
  }
}

function again(reply) {
  const given = (reply.headers.get("Retry-After") ?? "").trim();
  const seconds = /^\d+$/.test(given) ? Number(given) : (Date.parse(given) - Date.now()) / 1000;
  if (!Number.isFinite(seconds) || seconds <= 0) return "Try again soon.";
  const n = Math.ceil(seconds);
  return n < 120
    ? `Try again in ${n} ${n === 1 ? "second" : "seconds"}.`
    : `Try again in ${Math.ceil(n / 60)} minutes.`;
}
