/** Where the browser is, if it may say so. */
import { words } from '../language/language.ts';

export async function readLocation() {
  const options = { timeout: 20_000, maximumAge: 60_000 };
  const { coords, timestamp } = await new Promise<GeolocationPosition>((found, failed) => {
    navigator.geolocation.getCurrentPosition(found, problem => failed(inWords(problem)), options);
  });
  const { latitude, longitude, accuracy } = coords;
  return { latitude, longitude, accuracy, timestamp };
}

function inWords({ code, PERMISSION_DENIED, TIMEOUT }: GeolocationPositionError): Error {
  const { refused, late, failed } = words().location;
  switch (code) {
    case PERMISSION_DENIED:
      return new Error(refused);
    case TIMEOUT:
      return new Error(late);
    default:
      return new Error(failed);
  }
}
