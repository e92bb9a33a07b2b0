/** Where the browser is, if it may say so. */
export async function readLocation() {
  const options = { timeout: 20_000, maximumAge: 60_000 };
  const { coords, timestamp } = await new Promise<GeolocationPosition>((found, failed) => {
    navigator.geolocation.getCurrentPosition(found, problem => failed(inWords(problem)), options);
  });
  const { latitude, longitude, accuracy } = coords;
  return { latitude, longitude, accuracy, timestamp };
}

function inWords({ code, PERMISSION_DENIED, TIMEOUT }: GeolocationPositionError): Error {
  switch (code) {
    case PERMISSION_DENIED:
      return new Error('The browser was not allowed to say where it is.');
    case TIMEOUT:
      return new Error('The browser did not find out in time where it is.');
    default:
      return new Error('The browser can’t find out where it is.');
  }
}
