import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const filesBelow = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`)

const docs = filesBelow('docs').filter((path) => path.endsWith('.md'))
const besideTests = ['attacks', 'bench', 'faults'].map((folder) => `test/${folder}/README.md`)
const tops = readdirSync(root).filter((path) => path.endsWith('.md'))
const pages = [...tops, '.env.example', ...docs, ...besideTests]
const files = [...readdirSync(root), ...['src', 'test', 'scripts', 'docs', 'deploy'].flatMap(filesBelow)]
const sources = files.filter((path) => path.startsWith('src/') && path.endsWith('.ts'))
const source = sources.map(read).join('\n')

/** Returns what a page sets as code. */
const codeIn = (page: string) => [...read(page).matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code)

const exists = (path: string) => existsSync(join(root, path))
const isTest = (name: string) => exists(`test/${name}.test.ts`) || exists(`test/${name}.long.test.ts`)

describe.each(pages)('%s', (page) => {
  test('names paths that exist', () => {
    const named = [...read(page).matchAll(/(?<![\w/.-])(?:src|test|docs|scripts|deploy)\/[\w./<>-]+/g)].map(([path]) =>
      path.replace(/\.$/, ''),
    )
    expect(named.filter((path) => !path.includes('<') && !exists(path))).toEqual([])
  })

  test('names files that exist', () => {
    const named = codeIn(page).filter((code) => /^[\w./-]*\w\.(?:ts|lua|md|ya?ml|json)$/.test(code))
    expect(named.filter((name) => !files.some((file) => file === name || file.endsWith(`/${name}`)))).toEqual([])
  })

  test('names tests and folders that exist', () => {
    const folders = readdirSync(join(root, 'test'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
    const named = codeIn(page).filter(
      (code) => /^[\w-]+(?:\/[\w-]+)+$/.test(code) && folders.some(({ name }) => code.startsWith(`${name}/`)),
    )
    expect(named.filter((name) => !isTest(name) && ![`src/${name}.ts`, `src/${name}`, name].some(exists))).toEqual([])
  })

  test('links to pages that exist', () => {
    const links = [...read(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, link = '']) => link)
    expect(links.filter((link) => !exists(join(dirname(page), link.split('#')[0] ?? '')))).toEqual([])
  })

  test('links to headings that exist', () => {
    const links = [...read(page).matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)]
    const broken = links.filter(([, to = '', heading = '']) => !headingsOf(to === '' ? page : join(dirname(page), to)).includes(heading))
    expect(broken.map(([link]) => link)).toEqual([])
  })
})

/** Returns the anchors of a page's headings, as GitHub and GitLab make them. */
function headingsOf(page: string): string[] {
  const headings = [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, words = '']) => words.toLowerCase())
  return headings.map((words) => words.replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-'))
}

/** The most words of each page, so that somebody in a hurry finds the answer. A new fact takes the place of another one. */
const ceilings: Record<string, number> = {
  'README.md': 600,
  'CONTRIBUTING.md': 1_200,
  'RELEASING.md': 350,
  'CHANGELOG.md': 460,
  'SECURITY.md': 140,
  'docs/using.md': 1_700,
  'docs/install.md': 1_300,
  'docs/slack-app.md': 400,
  'docs/kubernetes.md': 500,
  'docs/systemd.md': 400,
  'docs/redis.md': 620,
  'docs/backup.md': 730,
  'docs/configuration.md': 950,
  'docs/policy.md': 1_320,
  'docs/passkeys.md': 500,
  'docs/runbook.md': 1_350,
  'docs/errors.md': 1_800,
  'docs/monitoring.md': 700,
  'docs/reference.md': 1_700,
  'docs/operate.md': 1_755,
  'docs/alerts.md': 850,
  'docs/machines.md': 1_100,
  'docs/audit.md': 750,
  'docs/security.md': 1_500,
  'docs/threats.md': 1_200,
  'docs/guarantees.md': 500,
  'docs/performance.md': 340,
}

const wordsIn = (page: string) => read(page).split(/\s+/).filter(Boolean).length
const decisions = docs.filter((path) => path.startsWith('docs/decisions/'))

test.each(Object.entries(ceilings))('%s has at most %i words', (page, most) => {
  expect(wordsIn(page)).toBeLessThanOrEqual(most)
})

test('every page has a ceiling, the decisions one together, and all of them one', () => {
  const sum = (some: string[]) => some.reduce((all, page) => all + wordsIn(page), 0)
  expect([...tops, ...docs].filter((page) => !(page in ceilings)).toSorted()).toEqual(decisions.toSorted())
  expect(sum(decisions)).toBeLessThanOrEqual(1_900)
  expect(sum([...tops, ...docs])).toBeLessThanOrEqual(26_000)
})

test('README links every page', () => {
  const linked = new Set([...read('README.md').matchAll(/\]\(([^)#\s]+)/g)].map(([, link = '']) => link))
  const unlinked = [...tops, ...docs].filter((page) => !linked.has(page) && page !== 'README.md' && !decisions.includes(page))
  expect(unlinked).toEqual(['SECURITY.md'])
})

test('README shows a request message and a table, for light and dark pages', () => {
  const shown = [...read('README.md').matchAll(/(?:src|srcset)="([^"]+)"/g)].map(([, path = '']) => path)
  expect(shown.filter((path) => !exists(path))).toEqual([])
  expect(shown.toSorted()).toEqual(
    ['request-message', 'table'].flatMap((name) => ['dark', 'light'].map((scheme) => `docs/pictures/${name}-${scheme}.webp`)),
  )
})

test.each(['test/faults/README.md', 'test/attacks/README.md'])('the last column of the tables in %s names tests that exist', (page) => {
  const cells = [...read(page).matchAll(/^.* \| ([^|]*`[^|]+?)(?: \|)?$/gm)].map(([, cell = '']) => cell)
  const named = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name))
  expect(cells.length).toBeGreaterThan(35)
  expect(named.filter((name) => !isTest(name))).toEqual([])
})

test.each(['CONTRIBUTING.md', ...decisions])('%s names functions and types that exist', (page) => {
  const named = codeIn(page).flatMap((code) => (/^(?:[a-z]+[A-Z]\w*|[A-Z][a-z]\w*)(?:\.\w+)?$/.test(code) ? code.split('.') : []))
  expect(named.filter((name) => !new RegExp(`\\b${name}\\b`).test(source))).toEqual([])
})

/** What Slack, other programs and the vendor's dashboard show. */
const ofOthers = [
  ...['dispatch_failed', 'did not respond', "Your URL didn't respond", 'requires either Request URL or Socket Mode', 'More actions'],
  ...['OAuth & Permissions', 'Basic Information', 'Event Subscriptions', 'App-Level Tokens', 'Install to Workspace', 'From a manifest'],
  ...[
    'Create New App',
    'App Manifest',
    'Copy member ID',
    'Copy group ID',
    'Bot User OAuth Token',
    'Re-run jobs',
    'Signature and tags',
    'Regenerate',
    'file changed as we read it',
  ],
  ...['Report a vulnerability', 'Two people', 'Break something', 'Socket Mode', "Can't recover from AOF write error"],
]

/** Whether the code has these words. It may set a value in place of a number, of what is left out (…), and of the name of a command. */
function isSaid(words: string): boolean {
  const parts = words.split(/\d+|…|‹.*?›/).map((part) => part.trim().replace(/[.:]$/, ''))
  return parts.every((part) => source.replaceAll('\\', '').toLowerCase().includes(part.toLowerCase()))
}

test.each([
  'docs/using.md',
  'docs/runbook.md',
  'docs/install.md',
  'docs/operate.md',
  'docs/backup.md',
  'docs/alerts.md',
  'docs/security.md',
  'docs/policy.md',
])('%s quotes messages and buttons as they are', (page) => {
  const text = read(page).replace(/^```[\s\S]*?^```$/gm, '')
  const quoted = [...text.matchAll(/(?<![*\w])\*([A-Z][^*\n]+|[^*\n]+ [^*\n]+)\*(?!\*)/g)].map(([, words = '']) => words)
  expect(quoted.length).toBeGreaterThan(0)
  expect(quoted.filter((words) => !ofOthers.includes(words) && !isSaid(words))).toEqual([])
})

test('the runbook quotes the lines of a start that ends as they are', () => {
  const [, section = ''] = /^## The start ends$([\s\S]*?)^###/m.exec(read('docs/runbook.md')) ?? []
  const quoted = [...section.matchAll(/^(`.*?) \| /gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, words = '']) => words),
  )
  expect(quoted.length).toBeGreaterThan(8)
  expect(quoted.filter((words) => !isSaid(words))).toEqual([])
})

test('the runbook names the checks of the doctor, in their order', () => {
  const named = new Set([...read('src/checks/list.ts').matchAll(/^ {2}check\('([^']+)'/gm)].map(([, what]) => what))
  expect(named.size).toBeGreaterThan(15)
  expect(read('docs/runbook.md').replace(/\s+/g, ' ')).toContain(`${[...named].join(', ')}.`)
})

test('pages name metrics that exist', () => {
  const named = pages.flatMap((page) => read(page).match(/\blockkeeper_[a-z_]+(?=[^\w])/g) ?? [])
  expect(named.length).toBeGreaterThan(5)
  expect(named.filter((name) => !source.includes(`'${name.replace(/_(?:bucket|count)$/, '')}'`))).toEqual([])
})

const minute = 60_000
const day = 24 * 60 * minute

/** Numbers on pages, by the constant that they come from: `{}` is its value in the unit. */
const numbers: [page: string, words: string, constant: string, unit?: number][] = [
  ['docs/using.md', 'At most {}, in one project and site', 'features/moves/evacuation.ts mostEvacuated'],
  ['docs/using.md', 'Up to {} moves are sent at a time', 'life/bundle.ts parallelWrites'],
  ['docs/using.md', "it couldn't start within {} minutes of its time", 'domain/starts.ts startWithinMs', minute],
  ['docs/using.md', 'at most {} days ahead', 'domain/times.ts longestAheadMs', day],
  ['docs/using.md', 'the time of each step, for {} days', 'record/store.ts keepEndedMs', day],
  ['docs/using.md', 'those that it saw there within {} hours', 'domain/account.ts longestSeenMs', 60 * minute],
  ['docs/operate.md', 'at most {} days ahead', 'domain/times.ts longestAheadMs', day],
  ['docs/operate.md', '{} for it alone', 'account/budget.ts keptForSend'],
  ['docs/audit.md', 'Redis keeps them for {} days', 'audit/audit.ts keepMs', day],
  ['docs/redis.md', 'of audit for {} days', 'audit/audit.ts keepMs', day],
  ['docs/redis.md', 'of its record for {} days', 'record/store.ts keepEndedMs', day],
  ['docs/policy.md', 'A file has at most {} kB', 'config/policy-file.ts maxLength', 1024],
  ['docs/machines.md', 'at most {} kB', 'features/machines/receiver.ts mostBytes', 1024],
  ['docs/machines.md', 'after at most {} seconds', 'features/machines/request-operations.ts longestWaitS'],
  ['docs/machines.md', 'up to {} with `limit`', 'features/machines/list-operations.ts mostListed'],
  ['docs/machines.md', '{} calls a minute', 'features/machines/operations.ts mostCalls'],
  ['docs/machines.md', '{} waits at once', 'features/machines/request-operations.ts mostWaits'],
  ['docs/machines.md', 'for {} hours the same key', 'features/machines/idempotency.ts keyMs', 60 * minute],
  ['docs/alerts.md', '{} alerts)', 'features/alerts/payload.ts mostAlerts'],
  ['docs/monitoring.md', 'asked at most every {} s', 'start/status.ts accountEveryMs', 1_000],
  ['docs/monitoring.md', 'Slack every {} s', 'start/status.ts slackEveryMs', 1_000],
  ['docs/runbook.md', 'no worker has run for {} s', 'life/self-checks.ts workerSilenceMs', 1_000],
  ['docs/runbook.md', '{} s or more off from Redis', 'redis/connections.ts clockWrongMs', 1_000],
  ['docs/runbook.md', 'the clock is {} minutes off', 'slack/http-receiver.ts maxOffSeconds', 60],
  ['docs/threats.md', 'a time stamp at most {} minutes off', 'slack/http-receiver.ts maxOffSeconds', 60],
]

test.each(numbers)('%s says: %s, as %s', (page, words, constant, unit = 1) => {
  const [file = '', name] = constant.split(' ')
  const [, factors = ''] = new RegExp(`^(?:export )?const ${name} = ([\\w* ]+)$`, 'm').exec(read(`src/${file}`)) ?? []
  const value = factors
    .split('*')
    .reduce((product, factor) => product * (factor.trim() === 'dayMs' ? day : Number(factor.trim().replaceAll('_', ''))), 1)
  const shown = (value / unit).toLocaleString('en')
  expect(read(page).replace(/\s+/g, ' ')).toContain(words.replace('{}', shown))
})
