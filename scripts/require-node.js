// This file avoids new syntax, because it has to run on the Node versions that it rejects. With `--newest`, it also prints the folder of the
// newest Node in the PATH: npm puts the packages of Node first, which follow its releases late.
import { execFileSync } from 'node:child_process'
import { delimiter, dirname, isAbsolute, join } from 'node:path'

/** The security release of October 21, 2026. */
const secure = '24.22.1'

const isForStart = process.argv.includes('--newest')
let newest = { folder: dirname(process.execPath), version: process.versions.node }

for (const folder of isForStart ? new Set((process.env.PATH || '').split(delimiter).filter(isAbsolute)) : []) {
  const version = versionIn(folder)
  if (version && isOlder(newest.version, version)) newest = { folder, version }
}

const found = `this is Node ${newest.version} (${process.platform} ${process.arch})`
if (isOlder(newest.version, '24.0.0')) {
  console.error(
    `Lockkeeper needs Node 24 or newer, and ${found}. ` +
      'On Linux and Windows "npm ci" brings a Node 24 of its own unless "--omit=optional" is given. Elsewhere, install Node 24 from nodejs.org and run the command again.',
  )
  process.exit(1)
}
if (isForStart) {
  if (isOlder(newest.version, secure)) {
    console.error(`Warning: ${found}, without the security release ${secure}. Install a newer Node 24 from nodejs.org.`)
  }
  console.log(newest.folder)
}

function versionIn(folder) {
  try {
    const answer = execFileSync(join(folder, 'node'), ['--version'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 5000,
    })
    return (/^v(\d+\.\d+\.\d+)\s*$/.exec(answer) || [])[1]
  } catch (_) {
    // Most folders have no Node.
    return undefined
  }
}

function isOlder(version, than) {
  const [a, b] = [version, than].map((each) => each.split('.').map(Number))
  const at = [0, 1, 2].find((index) => a[index] !== b[index])
  return at !== undefined && a[at] < b[at]
}
