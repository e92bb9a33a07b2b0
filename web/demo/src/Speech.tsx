/** What somebody said, as it was said. */
export function Speech({ text }: { text: string }) {
  // Kana tells Japanese from Chinese, which has its own forms of the same letters.
  const language = /[\u3040-\u30ff]/.test(text) ? 'ja' : undefined;
  return (
    <p className="speech" lang={language}>
      {text}
    </p>
  );
}
