import { findOrInstall, findProgram } from './programs.ts'

const onPath = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
const onMac = ['Google Chrome', 'Chromium'].map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`)
const names = [...onPath, ...onMac, 'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe']

const advice = [
  "There is no Chromium on this machine, and the page's tests need one. Do one of these and run the command again:",
  '  Debian:  sudo apt-get install chromium fonts-noto-color-emoji',
  '  macOS:   brew install --cask google-chrome',
  'Or set CHROMIUM_PATH to the program of a Chromium or a Chrome that you have.',
].join('\n')

/** For a browser in a container without a screen, which connects to nothing but the page. */
export const browserArgs = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking']

/** Returns the path of a Chromium. Installs one first if that needs no permission. Throws with advice if there is none. */
export async function findChromium(): Promise<string> {
  const given = process.env.CHROMIUM_PATH
  if (given) return findProgram([given]) ?? Promise.reject(new Error(`CHROMIUM_PATH is ${given}, and there is no program of that name.`))
  // Without the second package emoji are empty boxes on the screenshots.
  const packages = ['chromium', 'fonts-noto-color-emoji']
  return findOrInstall({ names, packages, missing: 'There is no Chromium on this machine.', advice })
}
