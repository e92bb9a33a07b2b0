import { redirect } from 'next/navigation';

/** The address names the chat, so that a reload finds it again. */
export default function Page(): never {
  redirect(`/chat/${crypto.randomUUID()}`);
}

export const dynamic = 'force-dynamic';
