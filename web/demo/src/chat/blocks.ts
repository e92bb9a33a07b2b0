/**
 * Markdown cut into blocks that can be drawn apart, so that a text which grows at its end is not drawn
 * again from its start.
 */
export function blocks(text: string): string[] {
  const cut: string[] = [];
  let block: string[] = [];
  let fence: string | undefined;
  const lines = text.split('\n');
  for (const [index, line] of lines.entries()) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark !== undefined && (fence === undefined || mark.startsWith(fence))) {
      fence = fence === undefined ? mark : undefined;
    }
    block.push(line);
    const next = lines[index + 1];
    if (line.trim() === '' && fence === undefined && next !== undefined && !continues(next)) {
      cut.push(block.join('\n'));
      block = [];
    }
  }
  cut.push(block.join('\n'));
  return cut.filter(part => part.trim() !== '');
}

/** Whether a line may belong to what is before a blank line: a list, or its insides. */
function continues(line: string): boolean {
  return line.trim() === '' || /^(\s{2,}|[-*+] |\d+[.)] )/.test(line);
}
