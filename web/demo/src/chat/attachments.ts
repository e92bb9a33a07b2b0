/** Files that go with a message: by paste, drop or button. */
import type { FileUIPart } from 'ai';

export const MOST_FILES = 4;

/** Bytes of a file as it is sent. A request may have 4 MiB in all, and base64 takes a third more. */
const LARGEST = 2_000_000;

/** Pictures above this are made smaller: no model looks closer. */
const LARGE_PICTURE = 600_000;
const LONGEST_SIDE = 1_600;

export class TooLarge extends Error {}

/** A file as a message takes it. */
export async function attach(file: File): Promise<FileUIPart> {
  const isPicture = /^image\/(png|jpeg|webp|avif)$/.test(file.type);
  const content = isPicture && file.size > LARGE_PICTURE ? await smaller(file) : file;
  if (content.size > LARGEST) {
    throw new TooLarge(file.name);
  }
  return {
    type: 'file',
    filename: file.name,
    mediaType: content.type || 'application/octet-stream',
    url: await dataUrl(content),
  };
}

async function smaller(file: File): Promise<Blob> {
  const picture = await createImageBitmap(file);
  const scale = Math.min(1, LONGEST_SIDE / Math.max(picture.width, picture.height));
  const canvas = new OffscreenCanvas(
    Math.round(picture.width * scale),
    Math.round(picture.height * scale),
  );
  canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height);
  picture.close();
  return canvas.convertToBlob({ type: 'image/jpeg', quality: 0.85 });
}

function dataUrl(content: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(content);
  });
}
