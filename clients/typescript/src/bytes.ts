import type { Output } from "./types.js";

const CHUNK = 0x8000;

/** What a program wrote. */
export function bytesOf(output: Output): Uint8Array {
  if (output.base64 === null) return new TextEncoder().encode(output.text);
  return Uint8Array.from(atob(output.base64), (each) => each.charCodeAt(0));
}

export function toBase64(data: Uint8Array): string {
  let text = "";
  for (let at = 0; at < data.length; at += CHUNK) {
    text += String.fromCharCode(...data.subarray(at, at + CHUNK));
  }
  return btoa(text);
}
