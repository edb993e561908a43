import { describe, expect, test } from 'vitest'
import { AuditEntry, type AuditNote } from '../../../src/audit/chain.ts'
import type { FoundEntry } from '../../../src/audit/find.ts'
import type { Change, Finding } from '../../../src/domain/change.ts'
import { toGroup } from '../../../src/domain/policy.ts'
import { readFilter, showAudit } from '../../../src/features/audit/audit.ts'
import { acts } from '../../../src/features/audit/entry-words.ts'
import { listedRows, stepOf, storyRow } from '../../../src/features/audit/rows.ts'
import { type Story, storyOf } from '../../../src/features/audit/stories.ts'
import { cardButtons } from '../../../src/messages/button-ids.ts'
import { steps } from '../../../src/record/steps.ts'
import { createKeys } from '../../../src/redis/key-names.ts'
import { hasTable } from '../../../src/slack/interactions.ts'
import { type Listing, listAnswer } from '../../../src/slack/listing.ts'
import type { Details } from '../../../src/slack/table.ts'
import { catalog as everyChange } from '../../given/catalog.ts'
import { requestFor } from '../../given/request.ts'

const [ada, ben, dov] = ['U0ADA00001', 'U0BEN00001', 'U0DOV00001']
const said = (words: string) => ({ code: 'said', words })

/** A catalog that takes the title of a request from its facts, and the words of a finding from the finding. */
const catalog = {
  ...everyChange,
  labelOf: (kind: string) => (kind === 'key.create' ? 'a new API key' : kind),
  titleOf: ({ facts }: { facts?: unknown }) => [(facts as { title?: string })?.title ?? 'Unknown'],
  changeIfKnown: (kind: string) =>
    ({
      ...everyChange.changeIfKnown(kind),
      explain: ({ code, words }: Finding) => (code === 'said' ? { why: String(words) } : undefined),
    }) as Change,
}
const isGuest = { code: 'guest', action: 'read' }
const notAnApprover = { code: 'not-an-approver', approvers: { anyOf: toGroup(['S0ONCALL01']), allOf: [], approvals: 1 } }
const noon = Date.parse('2026-11-20T12:00:00Z')

type Noted = Partial<AuditNote> & { act: string; to?: string; verdict?: FoundEntry['verdict'] }

/** Builds genuine entries in the order in which they were noted, one each second from noon on. */
function entriesOf(...noted: Noted[]): FoundEntry[] {
  return noted.map(({ verdict = 'genuine', ...one }, index) => {
    const fields = { at: noon + index * 1_000, noteId: `note-${index}`, ...one, seq: index + 1, prev: '' }
    return { ...AuditEntry.parse(fields), verdict }
  })
}

/** What the entry of a request says, and what the others say. */
const requested = (id: string, kind: string, resource: string, title: string) => ({
  requestId: id,
  kind,
  resource,
  facts: { title },
  channelId: 'C0OPS00001',
  payload: '9f8e'.repeat(16),
})
const moveId = '1a2b3c4d00112233445566778899aabb'
const move = requested(moveId, 'ip.move', 'elastic_ip:eip_1GijF7NsZe3bN', 'Move 203.0.113.10: web-1 → web-2')
const rename = requested('99887766554433221100ffeeddccbbaa', 'vm.rename', 'virtual_machine:vm_7265Xp57xmWdK', 'Rename web-21 → web-eu-1')
const ofMove = { requestId: moveId }
const byRule = { by: ben, rule: 'APPROVERS', via: 'S0ONCALL01' }

const wholeMove: Noted[] = [
  { ...move, act: 'request', to: 'waiting', by: ada, rule: 'APPROVERS', via: 'member', reason: 'web-1 is to be <rebooted>' },
  { ...ofMove, act: 'remind', to: 'waiting' },
  { ...ofMove, act: 'approve', to: 'approved', ...byRule },
  { ...ofMove, act: 'send', to: 'starting', facts: move.facts },
  { ...ofMove, act: 'accept', to: 'tracking', answer: { operation: 'elasticIps.move', status: 202 } },
  { ...ofMove, act: 'finish', to: 'done' },
]

function texts(rows: { text: string }[]): string {
  return rows.map(({ text }) => text.replace(/<!date[^>]*time_secs[^>]*>/g, '(exact time)').replace(/<!date\^[^>]*>/g, '(time)')).join('\n')
}

function storiesOf(entries: FoundEntry[]): Story[] {
  const groups = Map.groupBy(entries.toReversed(), ({ requestId, seq }) => requestId ?? seq)
  return [...groups.values()].map((group) => storyOf(group[0]?.requestId, group))
}

/** Shows the rows of these entries as text. */
function rowsOf(noted: Noted[]): string {
  const rows = storiesOf(entriesOf(...noted)).map((story) => storyRow(story, undefined, catalog))
  return texts(listedRows(rows).rows)
}

/** Shows entries as steps of the move. */
function stepsOf(noted: Noted[]): string {
  const entries = storiesOf(entriesOf(...noted)).flatMap((story) => story.entries)
  return texts(
    entries
      .toSorted((a, b) => a.seq - b.seq)
      .map((entry) => stepOf(entry, move.facts.title, catalog))
      .map(({ label, words }) => ({ text: `${label}: ${words}` })),
  )
}

const requestOf = (id: number): Noted => ({ ...move, act: 'request', by: ada, requestId: String(id).padStart(32, '0') })
const refusedMove = { ...ofMove, act: 'refused', by: dov, attempted: 'decide', kind: 'ip.move', causes: [notAnApprover] }
const refusedUse = { act: 'refused', by: dov, text: 'command ip move', channelId: 'C0OPS00001', attempted: 'read', causes: [isGuest] }
const verdicts = ['unsigned', 'forged', 'unknown-key', 'copied'] as const

/** Each row of the list by what has happened. */
const rows: Record<string, Noted[]> = {
  'a whole move': wholeMove,
  waiting: wholeMove.slice(0, 2),
  rejected: [requestOf(1), { ...requestOf(1), act: 'reject', ...byRule, reason: 'not tonight' }],
  'without approval': [requestOf(1), { ...requestOf(1), act: 'exempt', rule: 'NO_APPROVAL', via: 'no-approval' }],
  'approved by two': [requestOf(1), { ...requestOf(1), act: 'count-approval', by: ben }, { ...requestOf(1), act: 'approve', by: dov }],
  'approved by two, by one of them in an emergency': [
    requestOf(1),
    { ...requestOf(1), act: 'count-approval', by: ben, passed: [{ by: 'freeze', name: 'freeze by command' }] },
    { ...requestOf(1), act: 'approve', by: dov },
  ],
  'approved by its requester alone': [requestOf(1), { ...requestOf(1), act: 'break-glass' }],
  withdrawn: [requestOf(1), { ...requestOf(1), act: 'withdraw' }],
  'not posted': [requestOf(1), { ...requestOf(1), act: 'discard', causes: [{ code: 'not-posted', error: 'not_in_channel' }] }],
  'not started': [requestOf(1), { ...requestOf(1), act: 'drop', causes: [{ code: 'confirmation-lost' }] }],
  'failed after it was late': [
    ...wholeMove.slice(0, 4),
    { ...ofMove, act: 'late' },
    { ...ofMove, act: 'fail' },
    { ...ofMove, act: 'answer' },
  ],
  'under way': wholeMove.slice(0, 5),
  'with refused attempts': [...wholeMove.slice(0, 2), refusedMove, refusedMove],
  'with refused attempts for two reasons': [...wholeMove.slice(0, 2), refusedMove, { ...refusedMove, causes: [isGuest] }],
  'with a press in vain while the account API was away': [
    ...wholeMove.slice(0, 2),
    { ...ofMove, act: 'refused', by: ada, attempted: 'request-issue', causes: [{ code: 'account-away' }] },
  ],
  'whose record was changed': [...wholeMove.slice(0, 2), { ...ofMove, act: 'distrust' }],
  'whose beginning was not found': wholeMove.slice(-1),
  'refused before there was a request': [refusedUse],
  'a freeze': [{ act: 'freeze', by: ben, until: noon, reason: 'the sale' }],
  'a planned freeze': [{ act: 'freeze', by: ben, from: noon, until: noon, reason: 'the sale' }],
  'a planned freeze that was canceled': [{ act: 'unfreeze', by: ben, from: noon, until: noon }],
  'a passkey trusted on the server': [{ act: 'passkey-trust', by: ben, text: 'Laptop' }],
  'old entries removed': [{ act: 'trim', through: 1_234 }],
  unreadable: [{ act: 'unreadable', text: 'not JSON' }],
  ...Object.fromEntries(
    verdicts.map((verdict) => [
      `with an entry that is ${verdict}`,
      [...wholeMove, { ...rename, ...ofMove, act: 'reject', by: dov, facts: { title: 'Move *everything*' }, verdict }],
    ]),
  ),
  'of which no entry can be verified': [{ ...move, act: 'finish', facts: { title: '*Done* ” by Lockkeeper' }, verdict: 'unsigned' }],
  'approved by an entry that cannot be verified': [{ ...move, act: 'approve', by: ben, verdict: 'unsigned' }],
  'made up without a request': [{ ...move, requestId: undefined, act: 'finish', verdict: 'forged' }],
}

const otherSteps: Noted[] = [
  { ...ofMove, act: 'count-approval', ...byRule, missing: 1, needed: 2 },
  { ...ofMove, act: 'exempt', rule: 'NO_APPROVAL', via: 'no-approval' },
  { ...ofMove, act: 'break-glass', by: ada, rule: 'production', via: ada, reason: 'everything is down, see OPS-1' },
  { ...ofMove, act: 'reject', ...byRule, reason: `not tonight, <@${ada}>` },
  { ...ofMove, act: 'withdraw', by: ada, via: 'requester' },
  { ...ofMove, act: 'expire-approved', causes: [{ code: 'not-used' }] },
  { ...ofMove, act: 'discard', causes: [{ code: 'not-posted', error: 'not_in_channel' }] },
  { ...ofMove, act: 'void', causes: [said('It is on web-3 now, not on web-1.')] },
  { ...ofMove, act: 'answer', answer: { operation: 'elasticIps.move', problem: 'not finished within 20000 ms' } },
  { ...ofMove, act: 'fail', answer: { operation: 'elasticIps.move', status: 422, codes: ['SITE_MISMATCH'] } },
  { ...ofMove, act: 'distrust', causes: [said('It was signed with an unknown key.')] },
  { act: 'unreadable', text: 'not JSON' },
  { act: 'trim', through: 1_234, text: 'Entry 2 is not genuine.' },
  { ...ofMove, act: 'teleport', text: 'somewhere' },
  { ...rename, act: 'approve', by: ben },
  ...verdicts.map((verdict) => ({ ...ofMove, act: 'finish', verdict })),
  // No text from outside is markup.
  { act: 'request', by: '<!channel>', facts: { title: '<!here> ” *bold*' }, kind: 'ip.move', resource: 'x', reason: `<@${ada}>` },
]

const refusedSteps: Noted[] = [
  refusedMove,
  { ...refusedMove, attempted: 'request-approve', causes: [{ code: 'stale-card' }] },
  { ...refusedMove, attempted: 'request-reject', causes: [{ code: 'record-changed' }] },
  ...['emergency', 'issue', 'track'].map((right) => ({ ...refusedMove, attempted: right })),
  ...Object.values(cardButtons).map((id) => ({ ...refusedMove, attempted: id })),
  { ...refusedMove, attempted: 'break-glass', causes: [{ code: 'on-vacation', until: 'Monday' }] },
  { act: 'refused', by: ada, attempted: 'withdraw', causes: [{ code: 'only-requester-may-withdraw', requester: ben }] },
  { act: 'refused', by: ben, attempted: 'request-hand-over', causes: [{ code: 'foreign-button' }] },
  { act: 'refused', by: ada, kind: 'key.create', attempted: 'request', causes: [{ code: 'not-a-requester', requesters: toGroup([ben]) }] },
  refusedUse,
  ...['click open-move-elastic-ip', 'click unfreeze', 'click request-approve', 'submission move-elastic-ip', 'home'].map((text) => ({
    ...refusedUse,
    text,
  })),
  { ...refusedUse, text: undefined },
  { ...refusedMove, by: ada, attempted: 'request-approve', causes: [{ code: 'own-request' }] },
  { ...refusedMove, causes: [{ code: 'constructor' }, { code: '<!channel>' }] },
  { act: 'refused', by: ben },
]

test('rows and steps have the words of show-audit.answers.md', async () => {
  const sections = [
    '# What `/infra audit` shows',
    '## Rows',
    ...Object.entries(rows).map(([name, noted]) => `### ${name}\n\n${rowsOf(noted)}`),
    '## Steps of a whole move',
    stepsOf(wholeMove),
    '## Other steps',
    stepsOf([wholeMove[0] as Noted, ...otherSteps]),
    '## Refusals',
    stepsOf([wholeMove[0] as Noted, ...refusedSteps]),
  ]
  await expect(`${sections.join('\n\n')}\n`).toMatchFileSnapshot('show-audit.answers.md')
})

test('every act that Lockkeeper notes has words', () => {
  expect(Object.keys(acts)).toEqual(
    expect.arrayContaining(['request', 'discard', 'answer', 'refused', 'unreadable', ...Object.keys(steps)]),
  )
})

test('requests have a picker for their steps, unless Lockkeeper cannot have made their ids', () => {
  const entries = entriesOf(...wholeMove, { ...move, act: 'request', requestId: 'x'.repeat(200) })
  const { choices } = listedRows(storiesOf(entries).map((story) => storyRow(story, undefined, catalog)))
  expect(choices?.options.map((one) => one && [one.text.text, one.description?.text, one.value])).toEqual([
    undefined,
    ['1a2b3c4d Move 203.0.113.10: web-1 → web-2', 'Done · 2026-11-20 12:00 UTC', moveId],
  ])
})

describe('words', () => {
  const entries = storiesOf(
    entriesOf(
      { ...move, act: 'request', by: ada, reason: 'kernel update' },
      { ...ofMove, act: 'approve', to: 'approved', ...byRule },
      { ...ofMove, act: 'finish', to: 'done' },
      { ...rename, act: 'request', by: ben },
      { ...refusedMove, requestId: rename.requestId, kind: 'vm.rename' },
      { ...refusedUse, channelId: 'C0GENERAL1' },
    ),
  ).flatMap((story) => story.entries)

  test.each<[words: string[], seqs: number[]]>([
    [[], [1, 2, 3, 4, 5, 6]],
    [['<@U0BEN00001>'], [2, 4]],
    [['<@U0BEN00001|ben>'], [2, 4]],
    [[ben], [2, 4]],
    [['me'], [1]],
    [['ip.move'], [1, 2, 3]],
    [['IP.MOVE', 'approve'], [2]],
    [['request'], [1, 4]],
    [['end'], [3]],
    [
      ['refused', dov],
      [5, 6],
    ],
    [['decide'], [5]],
    [['approved'], [2]],
    [['done'], [3]],
    [['eip_1GijF7NsZe3bN'], [1, 2, 3]],
    [['elastic_ip:eip_1GijF7NsZe3bN'], [1, 2, 3]],
    [['203.0.113.10'], [1, 2, 3]],
    [['203.0.113.1'], []],
    [['203.0.113'], [1, 2, 3]],
    [['web-2'], [1, 2, 3]],
    [['web-21'], [4, 5]],
    [['web'], [1, 2, 3, 4, 5]],
    [['1a2b3c4d'], [1, 2, 3]],
    [[moveId], [1, 2, 3]],
    [['1a2b'], []],
    [['9f8e9f8e'], [1, 2, 3, 4, 5]],
    [['Kernel'], [1]],
    [['<!subteam^S0ONCALL01|@oncall>'], [2, 5]],
    [['S0ONCALL01'], [2, 5]],
    [['guest'], [6]],
    [['<#C0GENERAL1|general>'], [6]],
    [['.*'], []],
    [['203.0.113.10', '<@U0BEN00001>'], [2]],
  ])('%j', (words, seqs) => {
    const { fits } = readFilter(words, ada, catalog)
    const found = entries.filter(fits).map(({ seq }) => seq)
    expect(found.toSorted()).toEqual(seqs)
  })
})

test('words find what a row says', () => {
  const of = { requestId: moveId, by: ben }
  const entries = entriesOf(
    { ...of, act: 'count-approval', passed: [{ by: 'freeze', name: 'freeze by command' }] },
    { ...of, act: 'approve' },
    { ...of, act: 'break-glass' },
    { act: 'freeze', by: ben },
    { act: 'unfreeze', by: ben },
    { act: 'unfreeze', by: ben, from: noon },
    { ...of, act: 'stop-tracking' },
    { ...of, act: 'finish', verdict: 'forged' },
  )
  const found = (word: string) => entries.filter(readFilter([word], ada, catalog).fits).map(({ seq }) => seq)
  expect(found('emergency')).toEqual([1, 3])
  expect(found('freeze')).toEqual([4, 5, 6])
  expect(found('unfreeze')).toEqual([5, 6])
  expect(found('longer')).toEqual([7])
  expect(found('unverified')).toEqual([8])
})

describe('the list', () => {
  const others = ['eip_2VszvKL6sK72c', 'eip_32u9zUzkpdmg6', 'eip_4xxhcCGReYR5C'].map(
    (id, index): Noted => ({ ...requestOf(index), facts: { title: `Move ${id}` }, resource: `elastic_ip:${id}` }),
  )
  const many = (count: number) => Array.from({ length: count }, (_, index) => requestOf(index))

  function featureOver(kept: Noted[]) {
    // The signature of an entry says whether it is genuine.
    const chain = entriesOf(...kept).map(({ verdict, ...entry }) => JSON.stringify({ ...entry, signature: verdict }))
    const xrevrange = async (_: string, from: string, __: string, ___: string, most: number) => {
      const end = from === '+' ? chain.length : Number.parseInt(from.slice(1), 10) - 1
      return chain
        .slice(Math.max(0, end - most), end)
        .map((text, index) => [`${Math.max(0, end - most) + index + 1}-0`, ['entry', text]])
        .toReversed()
    }
    const keyring = { verify: (_: unknown, signature: string) => signature }
    return showAudit.create({
      catalog,
      audit: { redis: { xrevrange }, keys: createKeys('test'), keyring, chained: async () => {} },
      directory: { zone: async () => 'UTC' },
      store: { now: async () => noon + 3_600_000, findMany: async (ids: string[]) => ids.map((id) => requestFor({ id })) },
      slack: { identity: { linkTo: ({ id }: { id: string }) => `https://nimbus.slack.com/archives/${id}` } },
    } as never)
  }

  /** Runs `/infra audit` and returns the list. */
  async function list(words: string[], kept = [...wholeMove, ...others]): Promise<Listing> {
    const [command] = featureOver(kept).commands
    const shown: Listing[] = []
    const call = { args: words, slashCommand: { origin: { userId: ada } }, list: async (listing: Listing) => void shown.push(listing) }
    await command?.run(call as never)
    const [listing] = shown
    if (!listing) throw new Error('nothing was shown')
    return listing
  }

  async function details(id: string, kept: Noted[] = wholeMove): Promise<Details | undefined> {
    return featureOver(kept).details?.['audited-request']?.(id, { userId: ada } as never)
  }

  const around = ({ title, notes = [] }: Listing) => texts([title, ...notes])

  test('without words has a row for each request', async () => {
    const listing = await list([])
    expect(listing.rows).toHaveLength(4)
    expect(around(listing)).toBe('Audit: 4 results, newest first\nEntries searched: all 9, back to (time).')
  })

  test('shows the whole request although the words match only one of its entries, and links its message in the first column', async () => {
    const { rows, table } = await list(['approve', '<@U0BEN00001>', '203.0.113.10'])
    expect(texts(rows)).toMatch(/Done.*By: <@U0ADA00001> {2}· {2}Decision: approved by <@U0BEN00001>/s)
    expect(String(table?.rows[0]?.[0])).toBe(`<https://nimbus.slack.com/archives/${moveId}|Move 203.0.113.10: web-1 → web-2>`)
  })

  test('finds a request by what only its first entry says, however many others were made since', async () => {
    const approved = many(3_000).map((one): Noted => ({ act: 'approve', by: dov, requestId: one.requestId }))
    const { rows } = await list(['203.0.113.10', ben], [...wholeMove.slice(0, 2), ...many(3_000), ...approved, ...wholeMove.slice(2)])
    expect(texts(rows)).toMatch(/Done.*approved by <@U0BEN00001>/s)
  })

  test('does not take what is changed from an entry that cannot be verified', async () => {
    const forged: Noted = { ...move, act: 'request', facts: { title: 'Move 192.0.2.66' }, verdict: 'forged' }
    const { rows } = await list(['203.0.113.10', 'approve'], [...wholeMove, forged])
    expect(texts(rows)).toMatch(/Unverified \(1 of 7 entries: its signature doesn't match\): “Move 203\.0\.113\.10: web-1 → web-2”/)
    expect(texts((await list(['192.0.2.66', 'approve'], [...wholeMove, forged])).rows)).toBe('')
  })

  test('refuses a time that it cannot read', async () => {
    await expect(list(['since', 'yesterdayish'])).rejects.toThrow("`yesterdayish` isn't a time, such as `3d`.")
  })

  test.each([
    ['2026-11-19', '2 1'],
    ['19.11.2026', '2 1'],
    ['2026-11-20', '3'],
    ['until 2026-11-19', '2 1 0'],
    ['until 2026-11-20', '3 2 1 0'],
    ['before 2026-11-19', '0'],
    ['from 2026-11-19', '3 2 1'],
    ['until 2026-11-19 since 2026-11-19 request', '2 1'],
  ])('reads days: %s', async (typed, expected) => {
    const times = ['2026-11-18T23:59:59Z', '2026-11-19T00:00:00Z', '2026-11-19T23:59:59Z', '2026-11-20T00:00:00Z']
    const kept = many(4).map((one, index) => ({ ...one, at: Date.parse(times[index] ?? '') }) as Noted)
    const { rows } = (await list(typed.split(' '), kept)).table ?? { rows: [] }
    expect(rows.map(([what]) => Number(String(what).match(/archives\/(\d+)/)?.[1])).join(' ')).toBe(expected)
  })

  test.each([
    ['since 2026-12-24', '`2026-12-24` is in the future. Write an earlier time, such as `3d`.'],
    ['since 05/06/2026', '`05/06/2026` can be two dates. Write the year first, such as `2026-12-24`.'],
  ])('refuses the time %s', async (typed, words) => {
    await expect(list(typed.split(' '))).rejects.toThrow(words)
  })

  test('marks a copy of an entry', async () => {
    const { rows } = await list([ben], [...wholeMove, { ...(wholeMove[2] as Noted), noteId: 'note-2' } as Noted])
    expect(texts(rows)).toMatch(/Unverified \(1 of 7 entries: it is a copy of an older entry\)/)
  })

  test('has the newest 30 requests, which fit into one table', async () => {
    const listing = await list([], [...many(50), ...many(50).map((one): Noted => ({ ...one, act: 'approve', by: ben }))])
    expect(hasTable(listAnswer(listing, { name: '/infra', command: 'audit', args: [], page: 0 }))).toBe(true)
    expect(listing.rows).toHaveLength(30)
    expect(around(listing)).toMatch(/^Audit: the newest 30 results\n/)
    expect(around(listing)).toMatch(
      /Entries searched: all 100, back to \(time\)\. Older requests may match: add `before \d+m`, or words\.$/,
    )
  })

  test('goes on with older requests by what it says below the newest, between two times', async () => {
    const kept = many(50).map((one, index) => ({ ...one, at: noon + index * 60_000 }) as Noted)
    const idsOf = ({ table }: Listing) => table?.rows.map(([what]) => String(what).match(/archives\/0*(\d+)/)?.[1])
    const newest = await list(['since', '50m'], kept)
    expect(newest.title.text).toBe('Audit: the newest 30 results matching since `50m`')
    const [, hint = ''] = around(newest).match(/add `(before \d+m)`/) ?? []
    const older = await list(['since', '50m', ...hint.split(' ')], kept)
    expect(older.title.text).toBe('Audit: 10 results matching since `50m` before `40m`, newest first')
    expect([idsOf(newest)?.at(-1), idsOf(older)?.[0], idsOf(older)?.at(-1)]).toEqual(['20', '19', '10'])
  })

  test('goes on by the entries that match, although all requests ended later', async () => {
    const kept = many(50).map((one, index) => ({ ...one, at: noon + index * 60_000 }) as Noted)
    const ended = many(50).map((one) => ({ ...one, act: 'finish', at: noon + 55 * 60_000 }) as Noted)
    const idsOf = ({ table }: Listing) => table?.rows.map(([what]) => String(what).match(/archives\/0*(\d+)/)?.[1])
    const newest = await list(['request'], [...kept, ...ended])
    const [, hint = ''] = around(newest).match(/add `(before \d+m)`/) ?? []
    const older = await list(['request', ...hint.split(' ')], [...kept, ...ended])
    expect([hint, idsOf(newest)?.[0], idsOf(newest)?.at(-1), idsOf(older)?.[0]]).toEqual(['before 40m', '49', '20', '19'])
  })

  test('goes on from now if what it found is ahead of the clock', async () => {
    const kept = many(50).map((one) => ({ ...one, at: noon + 2 * 3_600_000 }) as Noted)
    expect(around(await list([], kept))).toContain('add `before 0m`')
  })

  test('says if nothing matches, or if the audit is empty', async () => {
    const none = await list(['nothing-of-the-kind'])
    const empty = await list([], [])
    expect(none.empty.text).toMatch(/^No entry matches `nothing-of-the-kind`\. Use fewer or other words\./)
    expect(empty.empty.text).toBe('The audit has no entries yet.')
    expect(empty.notes).toEqual([])
  })

  test('has the steps of each request, without most of the refused attempts and of the unverified entries', async () => {
    const refused = Array.from({ length: 40 }, () => refusedMove)
    const forged = Array.from({ length: 12 }, (): Noted => ({ ...ofMove, act: 'approve', by: dov, verdict: 'forged' }))
    const shown = await details(moveId, [...wholeMove, ...refused, ...forged])

    expect(shown?.title.text).toBe('“Move 203.0.113.10: web-1 → web-2”')
    expect(shown?.facts).toHaveLength(6 + 10 + 10)
    expect(texts(shown?.notes ?? [])).toMatchInlineSnapshot(`
      "Request \`1a2b3c4d00112233445566778899aabb\` in <#C0OPS00001>
      30 more refused attempts aren't shown.
      2 more unverified entries aren't shown."
    `)
  })

  test('has no steps of a request that is not in the audit, nor of what cannot be a request', async () => {
    expect(await details('f'.repeat(32))).toBeUndefined()
    expect(await details('constructor')).toBeUndefined()
  })

  test('does not search for steps while the same person searches', async () => {
    const feature = featureOver(wholeMove)
    const searching = feature.commands[0]?.run({ args: [], slashCommand: { origin: { userId: ada } }, list: async () => {} } as never)

    await expect(feature.details?.['audited-request']?.(moveId, { userId: ada } as never)).rejects.toThrow('still running')
    await searching
  })
})
