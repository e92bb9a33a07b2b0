import { useEffect, useRef } from 'react';

interface Props {
  /** Where to look; asked with every frame. */
  analyser: () => AnalyserNode | undefined;
  isOn: boolean;
  bars?: number;
}

/** Sound, to be seen: a few bars that move with it. */
export function Levels({ analyser, isOn, bars = 5 }: Props) {
  const box = useRef<HTMLSpanElement>(null);

  useEffect(() => {
    const elements = [...(box.current?.children ?? [])] as HTMLElement[];
    if (!isOn) {
      for (const element of elements) {
        element.style.transform = '';
      }
      return;
    }
    let frame = 0;
    let bins = new Uint8Array(0);
    const draw = () => {
      frame = requestAnimationFrame(draw);
      const node = analyser();
      if (node === undefined) {
        return;
      }
      if (bins.length !== node.frequencyBinCount) {
        bins = new Uint8Array(node.frequencyBinCount);
      }
      node.getByteFrequencyData(bins);
      for (const [index, element] of elements.entries()) {
        // The low quarter, where music and voices are.
        const bin = 1 + Math.floor(((index / elements.length) ** 1.4 * bins.length) / 4);
        const level = Math.max(bins[bin] ?? 0, bins[bin + 1] ?? 0) / 255;
        element.style.transform = `scaleY(${0.15 + level * 0.85})`;
      }
    };
    draw();
    return () => cancelAnimationFrame(frame);
  }, [analyser, isOn]);

  return (
    <span ref={box} className="levels" aria-hidden="true">
      {Array.from({ length: bars }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: bars have no other name
        <span key={index} />
      ))}
    </span>
  );
}
