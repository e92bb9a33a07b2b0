import type { FileUIPart } from 'ai';
import { FileText } from 'lucide-react';
import { useWords } from '../language/language.ts';

/** A file that somebody sent or the agent made. */
export function FileView({ file }: { file: FileUIPart }) {
  const words = useWords();
  const name = file.filename ?? words.file;
  const isLocal = file.url.startsWith('data:') || file.url.startsWith('blob:');
  if (file.mediaType.startsWith('image/') && isLocal) {
    return <img src={file.url} alt={name} className="max-h-60 max-w-full rounded-lg" />;
  }
  if (!/^(https?|data|blob):/.test(file.url)) {
    return <span className="text-sm text-soft">{name}</span>;
  }
  return (
    <a
      className="inline-flex items-center gap-2 rounded-lg border border-line bg-sheet px-3 py-2 text-sm"
      href={file.url}
      download={name}
    >
      <FileText aria-hidden="true" className="size-4" />
      {name}
    </a>
  );
}
