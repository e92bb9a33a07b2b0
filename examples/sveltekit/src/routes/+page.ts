import { redirect } from '@sveltejs/kit';

/** The address names the chat, so that a reload finds it again. */
export function load(): never {
  redirect(307, `/chat/${crypto.randomUUID()}`);
}
