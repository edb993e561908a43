import { describe, expect, test } from 'vitest'
import type { Found, FoundEntry } from '../../src/audit/audit.ts'
import { AuditEntry, type AuditNote } from '../../src/audit/chain.ts'
import type { AccountEvent } from '../../src/domain/account.ts'
import type { Change, Finding } from '../../src/domain/change.ts'
import { ApiError, ApiUnreachableError } from '../../src/domain/errors.ts'
import { toGroup } from '../../src/domain/policy.ts'
import { auditRows, readFilter, showAudit, stepOf } from '../../src/features/audit/audit.ts'
import { listedRows, toStories } from '../../src/features/audit/rows.ts'
import { acts } from '../../src/features/audit/words.ts'
import { steps } from '../../src/requests/steps.ts'
import { hasTable } from '../../src/slack/interactions.ts'
import { type Listing, listAnswer } from '../../src/slack/listing.ts'
import type { Details } from '../../src/slack/table.ts'
import { mrkdwn } from '../../src/slack/text.ts'
import { catalog as everyChange } from '../requests/catalog-for-test.ts'
import { requestFor } from '../requests/request-for-test.ts'

const [ada, ben, dov] = ['U0ADA00001', 'U0BEN00001', 'U0DOV00001']
const said = (words: string) => ({ code: 'said', words })

/** A catalog that takes the title of a request from its facts, and the words of a finding from the finding. */
const catalog = {
  ...everyChange,
  labelOf: (kind: string) => (kind === 'key.create' ? 'a new API key' : kind),
  titleOf: ({ facts }: { facts?: unknown }) => [(facts as { title: string }).title],
  changeIfKnown: (kind: string) =>
    ({
      ...everyChange.changeIfKnown(kind),
      explain: ({ code, words }: Finding) => (code === 'said' ? { why: String(words) } : undefined),
    }) as Change,
}
const isGuest = { code: 'guest', action: 'read' }
const notAnApprover = { code: 'not-an-approver', approvers: { anyOf: toGroup(['S0ONCALL01']), allOf: [], approvals: 1 } }
const noon = Date.parse('2026-11-20T12:00:00Z')
const second = 1_000
const minute = 60 * second

type Noted = Partial<AuditNote> & { act: string; from?: string; to?: string; at?: number }

function genuine(fields: object): FoundEntry {
  return { ...AuditEntry.parse(fields), verdict: 'genuine' }
}

/** Builds genuine entries in the order in which they were noted, one each second from noon on. */
function entriesOf(...said: Noted[]): FoundEntry[] {
  const fields = said.map((one, index) => ({ version: 1, at: noon + index * second, ...one, seq: index + 1, prev: '' }))
  return fields.map(genuine)
}

const move = {
  requestId: '1a2b3c4d00112233445566778899aabb',
  kind: 'ip.move',
  resource: 'elastic_ip:eip_1GijF7NsZe3bN',
  facts: { title: 'Move 203.0.113.10: web-1 → web-2' },
  channelId: 'C0OPS00001',
  teamId: 'T0NIMBUS01',
  payload: '9f8e'.repeat(16),
}

const rename = {
  requestId: '99887766554433221100ffeeddccbbaa',
  kind: 'vm.rename',
  resource: 'virtual_machine:vm_7265Xp57xmWdK',
  facts: { title: 'Rename web-21 → web-eu-1' },
  channelId: 'C0OPS00001',
}

const byRule = { by: ben, rule: 'APPROVERS', via: 'S0ONCALL01' }
const asRequester = { by: ada, via: 'requester' }

const wholeMove = entriesOf(
  { ...move, act: 'request', to: 'waiting', by: ada, rule: 'APPROVERS', via: 'member', reason: 'web-1 is to be <rebooted>' },
  { ...move, act: 'remind-half', from: 'waiting', to: 'waiting' },
  { ...move, act: 'approve', from: 'waiting', to: 'approved', ...byRule },
  { ...move, act: 'send', from: 'approved', to: 'starting' },
  { ...move, act: 'accept', from: 'starting', to: 'tracking', answer: { operation: 'elasticIps.move', status: 202 } },
  { ...move, act: 'finish', from: 'tracking', to: 'done' },
)

let events = 0
function event(action: string | undefined, at: number, more: Partial<AccountEvent> = {}): AccountEvent {
  events += 1
  return {
    id: `evt_${events}`,
    action,
    target: { id: 'eip_1GijF7NsZe3bN', name: '203.0.113.10' },
    author: { id: 'user_1', name: 'ops', email: 'ops@nimbus.example' },
    createdAt: new Date(at).toISOString(),
    ...more,
  }
}

const mallory = { author: { id: 'user_9', name: 'Mallory', email: undefined } }

function texts(rows: { text: string }[]): string {
  return rows.map(({ text }) => text).join('\n')
}

/** Shows the rows of these entries and events as text. */
function textOf(entries: FoundEntry[], events: AccountEvent[] = []): string {
  return texts(listedRows(auditRows(toStories(entries), { events, addresses: new Map(), catalog })).rows)
}

function stepText(entry: FoundEntry): string {
  const { label, words } = stepOf(entry, { subject: move.facts.title, catalog })
  return `${label}: ${words}`
}

describe('a row', () => {
  test('shows a whole move: who requested it, who approved it, and how it ended', () => {
    const { rows, table, choices } = listedRows(
      auditRows(toStories(wholeMove), {
        events: [],
        addresses: new Map([[move.requestId, 'https://nimbus.slack.com/archives/C0OPS00001/p1']]),
        catalog,
      }),
    )
    expect(texts(rows)).toMatchInlineSnapshot(`
      ":large_green_circle: *<https://nimbus.slack.com/archives/C0OPS00001/p1|Move 203.0.113.10: web-1 → web-2>*  ·  Done  ·  <!date^1795176005^{time} {date_short_pretty}|2026-11-20 12:00 UTC>
      by <@U0ADA00001>  ·  approved by <@U0BEN00001>"
    `)
    expect(table?.headers).toMatchInlineSnapshot(`
      [
        "Change",
        "Outcome",
        "When",
        "By",
        "Decision",
        "Notes",
      ]
    `)
    expect(table?.rows.map((row) => row.map(String))).toMatchInlineSnapshot(`
      [
        [
          "<https://nimbus.slack.com/archives/C0OPS00001/p1|Move 203.0.113.10: web-1 → web-2>",
          "Done",
          "<!date^1795176005^{time} {date_short_pretty}|2026-11-20 12:00 UTC>",
          "<@U0ADA00001>",
          "approved by <@U0BEN00001>",
          "undefined",
        ],
      ]
    `)
    expect(choices?.options.map((one) => [one?.text.text, one?.description?.text, one?.value])).toEqual([
      ['1a2b3c4d Move 203.0.113.10: web-1 → web-2', 'Done · 2026-11-20 12:00 UTC', move.requestId],
    ])
  })

  test.each<[how: string, more: Noted[], line: RegExp]>([
    ['that waits', [], / {2}· {2}Waiting for approval {2}· {2}/],
    [
      'that was rejected',
      [{ ...move, act: 'reject', ...byRule, reason: 'not tonight' }],
      /Rejected.*\nby <@U0ADA00001> {2}· {2}rejected by <@U0BEN00001>$/s,
    ],
    [
      'that needed no approval',
      [{ ...move, act: 'exempt', rule: 'NO_APPROVAL', via: 'no-approval' }],
      /Approved.* {2}· {2}no approval needed$/s,
    ],
    [
      'that two people approved',
      [
        { ...move, act: 'count-approval', by: ben },
        { ...move, act: 'approve', by: dov },
      ],
      /approved by <@U0BEN00001> and <@U0DOV00001>$/,
    ],
    ['that its requester approved alone', [{ ...move, act: 'break-glass', by: ada }], /approved by <@U0ADA00001> alone \(break-glass\)$/],
    ['that was withdrawn', [{ ...move, act: 'withdraw', ...asRequester }], /Withdrawn.*\nby <@U0ADA00001>$/s],
    [
      'that Lockkeeper could not post, because it was not in the channel',
      [{ ...move, channelId: 'C0OPS00001', act: 'discard', causes: [{ code: 'not-posted', error: 'not_in_channel' }] }],
      / {2}· {2}Not posted {2}· {2}(.|\n)*Lockkeeper wasn't in <#C0OPS00001>/,
    ],
    [
      'that Slack refused to post',
      [{ ...move, act: 'discard', causes: [{ code: 'not-posted', error: 'is_archived' }] }],
      / {2}· {2}Not posted {2}· {2}(.|\n)*Slack refused the message \(is_archived\)/,
    ],
    [
      'that failed after it was late',
      [
        { ...move, act: 'send' },
        { ...move, act: 'late' },
        { ...move, act: 'fail' },
        { ...move, act: 'answer' },
      ],
      /Failed/,
    ],
    [
      'that is under way',
      [
        { ...move, act: 'send' },
        { ...move, act: 'accept' },
        { ...move, act: 'late' },
      ],
      /In progress/,
    ],
    [
      'with refused attempts',
      [
        { ...move, act: 'refused', by: dov, attempted: 'decide' },
        { ...move, act: 'refused', by: dov, attempted: 'decide' },
      ],
      /Waiting for approval.*\n2 refused attempts$/s,
    ],
    [
      'with repeats of a refused attempt',
      [
        { ...move, act: 'refused', by: dov, attempted: 'decide' },
        { ...move, act: 'refused', by: dov, attempted: 'decide', count: 1_199 },
      ],
      /\n1,200 refused attempts$/,
    ],
    ['whose record was changed', [{ ...move, act: 'distrust' }], /\nits record can't be trusted$/],
  ])('shows a request %s', (_, more, line) => {
    expect(textOf(entriesOf({ ...move, act: 'request', by: ada }, ...more))).toMatch(line)
  })

  test('says how often an attempt without a request was repeated', () => {
    const guest = { act: 'refused', by: dov, attempted: 'read', causes: [isGuest] }
    expect(textOf(entriesOf({ ...guest, text: 'command ip move', count: 199 }, { ...guest, count: 1 }))).toMatchInlineSnapshot(`
      ":no_entry: *Tried to use Lockkeeper*  ·  Refused once more  ·  <!date^1795176001^{time} {date_short_pretty}|2026-11-20 12:00 UTC>
      by <@U0DOV00001>
      Guests can't use Lockkeeper. Ask a teammate who is a full member of this workspace to do it for you.
      :no_entry: *Tried to move an Elastic IP*  ·  Refused 199 more times  ·  <!date^1795176000^{time} {date_short_pretty}|2026-11-20 12:00 UTC>
      by <@U0DOV00001>
      Guests can't use Lockkeeper. Ask a teammate who is a full member of this workspace to do it for you."
    `)
  })

  test('says that the beginning of a request was not found', () => {
    expect(textOf(wholeMove.slice(-1))).toMatch(/Done.*its first entry wasn't found$/s)
  })

  test('has one for each request, in the order of their newest entries', () => {
    const entries = entriesOf(
      { ...move, act: 'request', by: ada },
      { ...rename, act: 'request', by: ben },
      { ...move, act: 'reject', ...byRule },
      { act: 'refused', by: dov, text: 'command ip move', channelId: 'C0OPS00001', attempted: 'read', causes: [isGuest] },
      { act: 'trim', through: 1_234 },
      { act: 'unreadable', text: 'not JSON' },
    )
    expect(textOf(entries)).toMatchInlineSnapshot(`
      ":grey_question: *Unreadable entry*  ·  <!date^1795176005^{time} {date_short_pretty}|2026-11-20 12:00 UTC>
      :wastebasket: *Removed old entries of the audit, up to number 1,234*  ·  <!date^1795176004^{time} {date_short_pretty}|2026-11-20 12:00 UTC>
      :no_entry: *Tried to move an Elastic IP*  ·  Refused  ·  <!date^1795176003^{time} {date_short_pretty}|2026-11-20 12:00 UTC>
      by <@U0DOV00001>
      Guests can't use Lockkeeper. Ask a teammate who is a full member of this workspace to do it for you.
      :no_entry_sign: *Move 203.0.113.10: web-1 → web-2*  ·  Rejected  ·  <!date^1795176002^{time} {date_short_pretty}|2026-11-20 12:00 UTC>
      by <@U0ADA00001>  ·  rejected by <@U0BEN00001>
      :speech_balloon: *Rename web-21 → web-eu-1*  ·  Waiting for approval  ·  <!date^1795176001^{time} {date_short_pretty}|2026-11-20 12:00 UTC>
      by <@U0BEN00001>"
    `)
  })

  test('says which entries cannot be verified, and shows the request by the others', () => {
    const [forged] = entriesOf({ ...move, act: 'reject', by: dov, facts: { title: 'Move *everything*' } })
    const verdicts = ['unsigned', 'forged', 'unknown-key', 'copied'] as const
    const starts = verdicts.map((verdict) =>
      textOf([...wholeMove, { ...(forged as FoundEntry), seq: 7, verdict }])
        .split('  ·  ')
        .slice(0, 2),
    )

    expect(starts).toMatchInlineSnapshot(`
      [
        [
          ":warning: *Unverified (1 of 7 entries: it isn't signed): “Move 203.0.113.10: web-1 → web-2”*",
          "Done",
        ],
        [
          ":warning: *Unverified (1 of 7 entries: its signature doesn't match): “Move 203.0.113.10: web-1 → web-2”*",
          "Done",
        ],
        [
          ":warning: *Unverified (1 of 7 entries: it was signed with a key that Lockkeeper doesn't have): “Move 203.0.113.10: web-1 → web-2”*",
          "Done",
        ],
        [
          ":warning: *Unverified (1 of 7 entries: it is a copy of an older entry): “Move 203.0.113.10: web-1 → web-2”*",
          "Done",
        ],
      ]
    `)
  })

  test('marks a request of which no entry can be verified, and quotes its words', () => {
    const [done] = wholeMove.slice(-1) as [FoundEntry]
    const approved = entriesOf({ ...move, act: 'approve', by: ben }).map((entry) => ({ ...entry, verdict: 'unsigned' as const }))
    expect(textOf(approved)).not.toMatch(/approved by|· {2}Approved/)
    const title = '*Done* ” by Lockkeeper'
    expect(textOf([{ ...done, verdict: 'unsigned', facts: { title } }])).toMatchInlineSnapshot(`
      ":warning: *Unverified (it isn't signed): “*Done* " by Lockkeeper”*  ·  Unverified  ·  <!date^1795176005^{time} {date_short_pretty}|2026-11-20 12:00 UTC>
      its first entry wasn't found"
    `)
    expect(textOf([{ ...done, requestId: undefined, verdict: 'forged' }])).toMatchInlineSnapshot(
      `":warning: *Unverified (its signature doesn't match): Done: “Move 203.0.113.10: web-1 → web-2”*  ·  Unverified  ·  <!date^1795176005^{time} {date_short_pretty}|2026-11-20 12:00 UTC>"`,
    )
  })

  test('offers no steps of a request whose id Lockkeeper cannot have made', () => {
    const [entry] = entriesOf({ ...move, act: 'request', by: ada, requestId: 'x'.repeat(200) })
    const { choices } = listedRows(auditRows(toStories([entry as FoundEntry]), { events: [], addresses: new Map(), catalog }))
    expect(choices?.options).toEqual([undefined])
  })

  test('shows an event of the account with its author', () => {
    const found = [
      event('update.elastic_ip', noon + 50 * second, mallory),
      event(undefined, noon + 12 * minute, { author: undefined, target: { id: 'eip_1GijF7NsZe3bN', name: undefined } }),
      event('update.elastic_ip', noon, { createdAt: undefined }),
    ]
    expect(textOf(wholeMove, found)).toMatchInlineSnapshot(`
      ":white_small_square: *Event of the account: unknown action of \`eip_1GijF7NsZe3bN\`*  ·  <!date^1795176720^{time} {date_short_pretty}|2026-11-20 12:12 UTC>
      by someone unknown
      :white_small_square: *Event of the account: \`update.elastic_ip\` of \`203.0.113.10\`*  ·  <!date^1795176050^{time} {date_short_pretty}|2026-11-20 12:00 UTC>
      by Mallory
      :large_green_circle: *Move 203.0.113.10: web-1 → web-2*  ·  Done  ·  <!date^1795176005^{time} {date_short_pretty}|2026-11-20 12:00 UTC>
      by <@U0ADA00001>  ·  approved by <@U0BEN00001>
      :white_small_square: *Event of the account: \`update.elastic_ip\` of \`203.0.113.10\`*
      by ops (ops@nimbus.example)"
    `)
  })
})

describe('a step', () => {
  test('of a whole move says who took it and when, by which rule, and what the account answered', () => {
    expect(wholeMove.map((entry) => stepText(entry)).join('\n')).toMatchInlineSnapshot(`
      "Requested: <@U0ADA00001>, <!date^1795176000^{time} {date_short_pretty}|2026-11-20 12:00 UTC>  ·  every full member can request  ·  reason: \`web-1 is to be &lt;rebooted&gt;\`
      Reminded the approvers: <!date^1795176001^{time} {date_short_pretty}|2026-11-20 12:00 UTC>
      Approved: <@U0BEN00001>, <!date^1795176002^{time} {date_short_pretty}|2026-11-20 12:00 UTC>  ·  setting \`APPROVERS\`: <!subteam^S0ONCALL01>
      Sent to the account: <!date^1795176003^{time} {date_short_pretty}|2026-11-20 12:00 UTC>
      Accepted by the account: <!date^1795176004^{time} {date_short_pretty}|2026-11-20 12:00 UTC>  ·  account API: move accepted (202)
      Done: <!date^1795176005^{time} {date_short_pretty}|2026-11-20 12:00 UTC>"
    `)
  })

  test('that cannot be verified says so, and why', () => {
    const [done] = wholeMove.slice(-1) as [FoundEntry]
    const verdicts = ['unsigned', 'forged', 'unknown-key', 'copied'] as const

    expect(verdicts.map((verdict) => stepText({ ...done, verdict }).replace(/, <!date.*/, ''))).toMatchInlineSnapshot(`
      [
        ":warning: *Unverified* (it isn't signed): Done: <!date^1795176005^{time} {date_short_pretty}|2026-11-20 12:00 UTC>",
        ":warning: *Unverified* (its signature doesn't match): Done: <!date^1795176005^{time} {date_short_pretty}|2026-11-20 12:00 UTC>",
        ":warning: *Unverified* (it was signed with a key that Lockkeeper doesn't have): Done: <!date^1795176005^{time} {date_short_pretty}|2026-11-20 12:00 UTC>",
        ":warning: *Unverified* (it is a copy of an older entry): Done: <!date^1795176005^{time} {date_short_pretty}|2026-11-20 12:00 UTC>",
      ]
    `)
  })

  test('about something else than the request says about what', () => {
    const [entry] = entriesOf({ ...rename, act: 'approve', by: ben })
    expect(stepText(entry as FoundEntry)).toContain('about “Rename web-21 → web-eu-1”')
  })

  test('that was refused says who attempted what, and why it was refused', () => {
    const entries = entriesOf(
      { ...move, act: 'refused', by: dov, attempted: 'decide', causes: [notAnApprover] },
      { act: 'refused', by: dov, text: 'command ip move', channelId: 'C0OPS00001', attempted: 'read', causes: [isGuest] },
      {
        act: 'refused',
        by: ada,
        kind: 'key.create',
        channelId: 'C0OPS00001',
        attempted: 'request',
        causes: [{ code: 'not-a-requester', requesters: toGroup([ben]) }],
      },
      { ...move, act: 'refused', by: ada, attempted: 'withdraw', causes: [{ code: 'only-requester-may-withdraw', requester: ben }] },
      { ...move, act: 'refused', by: ben, attempted: 'request-approve', causes: [{ code: 'stale-card' }] },
      { act: 'refused', by: ben, channelId: 'C0OPS00001', attempted: 'request-hand-over', causes: [{ code: 'foreign-button' }] },
      { ...move, act: 'refused', by: dov, attempted: 'track', causes: [notAnApprover] },
      { ...move, act: 'refused', by: ben, attempted: 'request-reject-form', causes: [{ code: 'changed-record' }] },
      { act: 'refused', by: ben },
      { act: 'refused', by: dov, text: 'command unknown', attempted: 'read', causes: [isGuest] },
      { act: 'refused', by: dov, text: 'click of-another-version', attempted: 'read', causes: [isGuest] },
      { ...move, act: 'refused', by: ada, attempted: 'break-glass', causes: [notAnApprover] },
      { ...move, act: 'refused', by: dov, attempted: 'decide', causes: [notAnApprover], count: 199 },
      { act: 'refused', by: dov, kind: 'ip.move', attempted: 'decide', causes: [notAnApprover], count: 1 },
    )
    expect(entries.map((entry) => stepText(entry)).join('\n')).toMatchInlineSnapshot(`
      "Refused: <@U0DOV00001> tried to approve or reject this request, <!date^1795176000^{time} {date_short_pretty}|2026-11-20 12:00 UTC>: You aren't an approver of this request. <!subteam^S0ONCALL01> can approve or reject it.
      Refused: <@U0DOV00001> tried to move an Elastic IP, <!date^1795176001^{time} {date_short_pretty}|2026-11-20 12:00 UTC>: Guests can't use Lockkeeper. Ask a teammate who is a full member of this workspace to do it for you.
      Refused: <@U0ADA00001> tried to request a new API key, <!date^1795176002^{time} {date_short_pretty}|2026-11-20 12:00 UTC>: You can't request this here. These requesters can: <@U0BEN00001>. Ask one of them, or the people who run Lockkeeper.
      Refused: <@U0ADA00001> tried to withdraw this request, <!date^1795176003^{time} {date_short_pretty}|2026-11-20 12:00 UTC>: Only <@U0BEN00001>, who requested this, can withdraw it. An approver can reject it.
      Refused: <@U0BEN00001> tried to approve this request, <!date^1795176004^{time} {date_short_pretty}|2026-11-20 12:00 UTC>: This button isn't on the request message. Nothing was done. Use the request message.
      Refused: <@U0BEN00001> tried to get the token of a request, <!date^1795176005^{time} {date_short_pretty}|2026-11-20 12:00 UTC>: This button was made for another request, or it was changed. Nothing was done. Use the request message.
      Refused: <@U0DOV00001> tried to stop or restart the tracking of this request, <!date^1795176006^{time} {date_short_pretty}|2026-11-20 12:00 UTC>: You aren't an approver of this request. <!subteam^S0ONCALL01> can approve or reject it.
      Refused: <@U0BEN00001> tried an unknown action on this request, <!date^1795176007^{time} {date_short_pretty}|2026-11-20 12:00 UTC>: request-reject-form: The record of this request no longer matches what was requested. Nothing was done. The people who run Lockkeeper were notified. Run the command again.
      Refused: <@U0BEN00001> tried an unknown action, <!date^1795176008^{time} {date_short_pretty}|2026-11-20 12:00 UTC>
      Refused: <@U0DOV00001> tried to run an unknown command, <!date^1795176009^{time} {date_short_pretty}|2026-11-20 12:00 UTC>: Guests can't use Lockkeeper. Ask a teammate who is a full member of this workspace to do it for you.
      Refused: <@U0DOV00001> tried to use Lockkeeper (\`click of-another-version\`), <!date^1795176010^{time} {date_short_pretty}|2026-11-20 12:00 UTC>: Guests can't use Lockkeeper. Ask a teammate who is a full member of this workspace to do it for you.
      Refused: <@U0ADA00001> tried to give an emergency approval of this request, <!date^1795176011^{time} {date_short_pretty}|2026-11-20 12:00 UTC>: You aren't an approver of this request. <!subteam^S0ONCALL01> can approve or reject it.
      Refused: <@U0DOV00001> tried to approve or reject this request 199 more times in 10 minutes, <!date^1795176012^{time} {date_short_pretty}|2026-11-20 12:00 UTC>: You aren't an approver of this request. <!subteam^S0ONCALL01> can approve or reject it.
      Refused: <@U0DOV00001> tried to approve or reject a request once more in 10 minutes, <!date^1795176013^{time} {date_short_pretty}|2026-11-20 12:00 UTC>: You aren't an approver of this request. <!subteam^S0ONCALL01> can approve or reject it."
    `)
  })

  test('that was refused for an unknown reason shows its code', () => {
    const [entry] = entriesOf({ ...move, act: 'refused', by: dov, attempted: 'decide', causes: [{ code: 'on-vacation', until: 'Monday' }] })
    expect(entry && stepText(entry)).toMatchInlineSnapshot(
      `"Refused: <@U0DOV00001> tried to approve or reject this request, <!date^1795176000^{time} {date_short_pretty}|2026-11-20 12:00 UTC>: \`on-vacation\`"`,
    )
  })

  test('of every other kind has its own words, and an unknown one is shown as it is', () => {
    const entries = entriesOf(
      { ...move, act: 'count-approval', from: 'waiting', to: 'waiting', ...byRule, missing: 1, needed: 2 },
      { ...move, act: 'exempt', from: 'waiting', to: 'approved', rule: 'NO_APPROVAL', via: 'no-approval' },
      {
        ...move,
        act: 'break-glass',
        from: 'waiting',
        to: 'approved',
        by: ada,
        rule: 'production',
        via: 'U0ADA00001',
        reason: 'everything is down',
      },
      { ...move, act: 'reject', from: 'waiting', to: 'rejected', ...byRule, reason: 'not tonight, <@U0ADA00001>' },
      { ...move, act: 'withdraw', from: 'waiting', to: 'withdrawn', ...asRequester },
      { ...move, act: 'expire-approved', from: 'approved', to: 'expired', causes: [{ code: 'not-used' }] },
      { ...move, act: 'discard', causes: [{ code: 'not-posted', error: 'not_in_channel' }] },
      {
        ...move,
        act: 'void',
        from: 'approved',
        to: 'voided',
        causes: [said('It was on web-1 when this was requested, and is on web-3 now.')],
      },
      { ...move, act: 'drop', from: 'approved', to: 'not-started', causes: [said('The account API could not be read for ten minutes.')] },
      { ...move, act: 'answer', answer: { operation: 'elasticIps.move', problem: 'not finished within 20000 ms' } },
      { ...move, act: 'late', from: 'tracking', to: 'tracking' },
      {
        ...move,
        act: 'fail',
        from: 'starting',
        to: 'failed',
        answer: { operation: 'elasticIps.move', status: 422, codes: ['SITE_MISMATCH'] },
      },
      { ...move, act: 'not-start', from: 'starting', to: 'not-started', causes: [said('The move never started.')] },
      { ...move, act: 'supersede', from: 'tracking', to: 'superseded', causes: [said('It was moved to db-1 meanwhile.')] },
      { ...move, act: 'stop-tracking', from: 'tracking', to: 'untracked', ...asRequester },
      { ...move, act: 'track-again', from: 'untracked', to: 'tracking', ...asRequester },
      { act: 'unreadable', text: 'not JSON' },
      { ...move, act: 'teleport', text: 'somewhere' },
    )
    expect(entries.map((entry) => stepText(entry)).join('\n')).toMatchInlineSnapshot(`
      "Approved, with 1 more of 2 needed: <@U0BEN00001>, <!date^1795176000^{time} {date_short_pretty}|2026-11-20 12:00 UTC>  ·  setting \`APPROVERS\`: <!subteam^S0ONCALL01>
      Needed no approval: <!date^1795176001^{time} {date_short_pretty}|2026-11-20 12:00 UTC>  ·  setting \`NO_APPROVAL\`: no approval needed
      Approved by the requester alone (break-glass): <@U0ADA00001>, <!date^1795176002^{time} {date_short_pretty}|2026-11-20 12:00 UTC>  ·  rule “production”: <@U0ADA00001>  ·  reason: \`everything is down\`
      Rejected: <@U0BEN00001>, <!date^1795176003^{time} {date_short_pretty}|2026-11-20 12:00 UTC>  ·  setting \`APPROVERS\`: <!subteam^S0ONCALL01>  ·  reason: \`not tonight, &lt;@U0ADA00001&gt;\`
      Withdrawn: <@U0ADA00001>, <!date^1795176004^{time} {date_short_pretty}|2026-11-20 12:00 UTC>  ·  as the requester
      Expired: <!date^1795176005^{time} {date_short_pretty}|2026-11-20 12:00 UTC>  ·  Approved, but the requester didn't press the button before the deadline.
      Not posted: <!date^1795176006^{time} {date_short_pretty}|2026-11-20 12:00 UTC>  ·  Couldn't post the request message: not_in_channel.
      Canceled, because the account had changed: <!date^1795176007^{time} {date_short_pretty}|2026-11-20 12:00 UTC>  ·  It was on web-1 when this was requested, and is on web-3 now.
      Not started, because nothing was sent: <!date^1795176008^{time} {date_short_pretty}|2026-11-20 12:00 UTC>  ·  The account API could not be read for ten minutes.
      The account answered: <!date^1795176009^{time} {date_short_pretty}|2026-11-20 12:00 UTC>  ·  account API: no answer to the move (not finished within 20000 ms)
      Takes longer than expected: <!date^1795176010^{time} {date_short_pretty}|2026-11-20 12:00 UTC>
      Failed: <!date^1795176011^{time} {date_short_pretty}|2026-11-20 12:00 UTC>  ·  account API: move refused (422, SITE_MISMATCH)
      Not started: <!date^1795176012^{time} {date_short_pretty}|2026-11-20 12:00 UTC>  ·  The move never started.
      Superseded by another change: <!date^1795176013^{time} {date_short_pretty}|2026-11-20 12:00 UTC>  ·  It was moved to db-1 meanwhile.
      Tracking stopped: <@U0ADA00001>, <!date^1795176014^{time} {date_short_pretty}|2026-11-20 12:00 UTC>  ·  as the requester
      Tracked again: <@U0ADA00001>, <!date^1795176015^{time} {date_short_pretty}|2026-11-20 12:00 UTC>  ·  as the requester
      Unreadable entry: <!date^1795176016^{time} {date_short_pretty}|2026-11-20 12:00 UTC>  ·  not JSON
      teleport: <!date^1795176017^{time} {date_short_pretty}|2026-11-20 12:00 UTC>  ·  somewhere"
    `)
  })

  test('shows no text from outside as markup', () => {
    const [entry] = entriesOf({
      act: 'request',
      by: '<!channel>',
      kind: 'ip.move',
      resource: 'elastic_ip:eip_1',
      facts: { title: '<!here> ” *bold*' },
      reason: '<@U0ADA00001>',
      causes: [said('<!everyone>')],
    })
    expect(entry && stepText(entry)).toMatchInlineSnapshot(
      `"Requested: \`&lt;!channel&gt;\`, <!date^1795176000^{time} {date_short_pretty}|2026-11-20 12:00 UTC>  ·  about “&lt;!here&gt; " *bold*”  ·  reason: \`&lt;@U0ADA00001&gt;\`  ·  &lt;!everyone&gt;"`,
    )
  })
})

describe('words', () => {
  const entries = entriesOf(
    { ...move, act: 'request', by: ada, reason: 'kernel update' },
    { ...move, act: 'approve', to: 'approved', ...byRule },
    { ...move, act: 'finish', to: 'done' },
    { ...rename, act: 'request', by: ben },
    { ...rename, act: 'refused', by: dov, attempted: 'decide', causes: [notAnApprover] },
    { act: 'refused', by: dov, channelId: 'C0GENERAL1', attempted: 'read', causes: [isGuest] },
  )

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
    [[move.requestId], [1, 2, 3]],
    [['1a2b'], []],
    [['9f8e9f8e'], [1, 2, 3]],
    [['kernel update'], [1]],
    [['Kernel'], [1]],
    [['<!subteam^S0ONCALL01|@oncall>'], [2, 5]],
    [['S0ONCALL01'], [2, 5]],
    [['guests'], [6]],
    [['<#C0GENERAL1|general>'], [6]],
    [['.*'], []],
    [['203.0.113.10', '<@U0BEN00001>'], [2]],
  ])('%j', (words, seqs) => {
    const { fits } = readFilter(words, ada, catalog)
    expect(entries.filter(fits).map(({ seq }) => seq)).toEqual(seqs)
  })

  test.each<[words: string[], seqs: number[]]>([
    [
      ['ip.move', '<@U0DOV00001>'],
      [1, 2],
    ],
    [['IP.MOVE'], [1, 2, 5]],
    [['vm.rename'], []],
    [['key.create'], [4]],
    [
      ['approve', 'refused'],
      [3, 5],
    ],
    [['reject'], []],
    [['request'], [4]],
  ])('%j also find refused attempts', (words, seqs) => {
    const attempts = entriesOf(
      { act: 'refused', by: dov, attempted: 'read', text: 'command ip move', causes: [isGuest] },
      { act: 'refused', by: dov, attempted: 'read', text: 'click open-move-elastic-ip', causes: [isGuest] },
      { act: 'refused', by: dov, attempted: 'read', text: 'click request-approve', causes: [isGuest] },
      { act: 'refused', by: ada, attempted: 'request', kind: 'key.create', causes: [isGuest] },
      { ...move, act: 'refused', by: ada, attempted: 'request-approve', causes: [notAnApprover] },
    )
    const { fits } = readFilter(words, ada, catalog)
    expect(attempts.filter(fits).map(({ seq }) => seq)).toEqual(seqs)
  })

  test('are shown as mentions and code', () => {
    expect(readFilter(['me', '<@U0BEN00001|ben>', 'ip.move', 'web-2', '`x`'], ada, catalog).shown.text).toMatchInlineSnapshot(
      `"\`me\` @ben \`ip.move\` \`web-2\` \`’x’\`"`,
    )
  })

  test('every act that Lockkeeper notes is known', () => {
    expect(Object.keys(acts)).toEqual(
      expect.arrayContaining(['request', 'discard', 'answer', 'refused', 'distrust', 'unreadable', ...Object.keys(steps)]),
    )
  })
})

describe('the list', () => {
  const others = ['eip_2VszvKL6sK72c', 'eip_32u9zUzkpdmg6', 'eip_4xxhcCGReYR5C'].map((id, index) =>
    genuine({
      version: 1,
      ...move,
      requestId: String(index).repeat(32),
      facts: { title: `Move ${id}` },
      resource: `elastic_ip:${id}`,
      act: 'request',
      by: ada,
      at: noon + minute,
      seq: 7 + index,
      prev: '',
    }),
  )
  const entries = [...wholeMove, ...others]

  interface Account {
    events?: AccountEvent[]
    fails?: Error
    queries?: unknown[]
    /** The entries of the chain that were not searched. */
    older?: number
  }

  function featureOver({ events: known = [], fails, queries = [], older = 0 }: Account, kept: FoundEntry[]) {
    return showAudit.create({
      catalog,
      audit: {
        find: async (fits, { limit = 200 } = {}): Promise<Found> => ({
          entries: kept.toReversed().filter(fits).slice(0, limit),
          searched: kept.length,
          unreadable: 0,
          since: kept[0]?.at,
        }),
        size: async () => kept.length + older,
      },
      accountApi: {
        events: {
          list: async ({ signal: _, ...query } = {}) => {
            queries.push(query)
            if (fails) throw fails
            return known
          },
        },
      },
      inventory: {
        elasticIps: async () =>
          ['eip_9VMfKLoJbV4mE', 'eip_AVMfKLoJbV4mE', 'eip_BVMfKLoJbV4mE', 'eip_CVMfKLoJbV4mE'].map(
            (id, index) => ({ id, address: index === 0 ? '203.0.113.99' : '203.0.113.98' }) as never,
          ),
        virtualMachines: async () => {
          throw new ApiUnreachableError({ operation: 'virtualMachines.list', requestSent: 'no', problem: 'ECONNREFUSED' })
        },
      },
      store: { findMany: async (ids) => ids.map((id) => requestFor({ id })) },
      linkTo: ({ id }) => `https://nimbus.slack.com/archives/${id}`,
    })
  }

  /** Runs `/infra audit` and returns the list. */
  async function list(words: string[], account: Account = {}, kept = entries): Promise<Listing> {
    const {
      commands: [command],
    } = featureOver(account, kept)
    const shown: Listing[] = []
    const call = { args: words, slashCommand: { origin: { userId: ada } }, list: async (listing: Listing) => void shown.push(listing) }
    await command?.run(call as never)
    const [listing] = shown
    if (!listing) throw new Error('nothing was shown')
    return listing
  }

  async function stepsOf(id: string, kept = entries): Promise<Details | undefined> {
    return featureOver({}, kept).details?.['audited-request']?.(id, {
      teamId: 'T0NIMBUS01',
      channelId: 'C0OPS00001',
      userId: ada,
      command: '/infra',
    })
  }

  const around = ({ title, notes = [] }: Listing) => texts([title, ...notes])

  test('without words has a row for each request and no events, and says how to filter', async () => {
    const queries: unknown[] = []
    const listing = await list([], { queries })
    expect(listing.rows).toHaveLength(4)
    expect(queries).toEqual([])
    expect(around(listing)).toMatchInlineSnapshot(`
      "Audit: 4 requests, newest first
      Filter by a person (a mention, or \`me\`), a channel, a kind (\`ip.move\`), an action (\`approve\`, \`refused\`), the first 8 characters of a request's id, an address, a name or an id. Only requests with a step that has all of these words are listed. With words for up to three servers, addresses or keys, what the account itself recorded for them is shown too.
      Searched all 9 entries, back to <!date^1795176000^{time} {date_short_pretty}|2026-11-20 12:00 UTC>. A request has an entry for each of its steps."
    `)
  })

  test('links each request to its message in the first column, which a phone shows whole', async () => {
    const { table } = await list(['203.0.113.10'])
    expect(String(table?.rows[0]?.[0])).toBe(`<https://nimbus.slack.com/archives/${move.requestId}|Move 203.0.113.10: web-1 → web-2>`)
  })

  test('shows the whole request although the words match only one of its entries', async () => {
    const { rows } = await list(['approve', '<@U0BEN00001>'])
    expect(texts(rows)).toMatch(/Done.*by <@U0ADA00001> {2}· {2}approved by <@U0BEN00001>/s)
  })

  test('fits into one table', async () => {
    const many = entriesOf(
      ...Array.from({ length: 30 }, (_, index) => ({ ...move, act: 'request', by: ada, requestId: String(index).padStart(32, '0') })),
      ...Array.from({ length: 30 }, (_, index) => ({ ...move, act: 'approve', by: ben, requestId: String(index).padStart(32, '0') })),
    )
    const answer = listAnswer(await list([], {}, many), { name: '/infra', command: 'audit', args: [], page: 0 })
    expect(hasTable(answer)).toBe(true)
  })

  test('of one resource has its events, from a day before the oldest entry', async () => {
    const queries: unknown[] = []
    const listing = await list(['203.0.113.10'], { queries, events: [event('update.elastic_ip', noon + 30 * minute, mallory)] })
    expect(queries).toEqual([{ targetId: 'eip_1GijF7NsZe3bN', since: new Date('2026-11-19T12:00:00Z'), limit: 100 }])
    expect(listing.rows).toHaveLength(2)
    expect(listing.rows[0]?.text).toContain('Mallory')
    expect(around(listing)).toMatchInlineSnapshot(`
      "Audit: 1 request and 1 event of the account matching \`203.0.113.10\`, newest first
      Also searched the account's own events for \`eip_1GijF7NsZe3bN\` since <!date^1795089600^{time} {date_short_pretty}|2026-11-19 12:00 UTC>.
      Searched all 9 entries, back to <!date^1795176000^{time} {date_short_pretty}|2026-11-20 12:00 UTC>. A request has an entry for each of its steps."
    `)
  })

  test('of a resource without events says so', async () => {
    expect(around(await list(['203.0.113.10']))).toContain('The account has no events for `eip_1GijF7NsZe3bN` since')
  })

  test('takes the name of a resource from a genuine entry only', async () => {
    const facts = { elasticIpId: 'eip_1', address: '203.0.113.66', to: { id: 'sv_2', name: 'web-2' }, from: { id: 'sv_1', name: 'web-1' } }
    const [entry] = entriesOf({ ...move, facts: { ...move.facts, ...facts } as never, act: 'request', by: ada })
    const noteFor = async (verdict: FoundEntry['verdict']) =>
      around(await list(['ip.move'], {}, [{ ...(entry as FoundEntry), verdict }])).match(/no events for (\S+)/)?.[1]

    expect(await noteFor('genuine')).toBe('`203.0.113.66`')
    expect(await noteFor('forged')).toBe('`eip_1GijF7NsZe3bN`')
  })

  test('says that the account has no events for a resource that the audit does not name', async () => {
    expect(around(await list(['203.0.113.99']))).toContain('The account has no events for `203.0.113.99` since')
  })

  test('of many resources has no events, counts them, and says what to do', async () => {
    const queries: unknown[] = []
    const listing = await list(['ip.move'], { queries })
    expect(queries).toEqual([])
    expect(around(listing)).toMatchInlineSnapshot(`
      "Audit: 4 requests matching \`ip.move\`, newest first
      The account's own events for 4 resources aren't shown: add an address, a name or an id to see them.
      Searched all 9 entries, back to <!date^1795176000^{time} {date_short_pretty}|2026-11-20 12:00 UTC>. A request has an entry for each of its steps."
    `)
  })

  test('of a resource without entries shows its events', async () => {
    const queries: unknown[] = []
    await list(['203.0.113.99'], { queries })
    const gone = await list(['eip_gone'], { queries, events: [event('delete.elastic_ip', noon, { target: undefined, ...mallory })] })
    expect(queries).toMatchObject([{ targetId: 'eip_9VMfKLoJbV4mE' }, { targetId: 'eip_gone' }])
    expect(texts([gone.title, ...gone.rows])).toMatchInlineSnapshot(`
      "Audit: 1 event of the account matching \`eip_gone\`, newest first
      :white_small_square: *Event of the account: \`delete.elastic_ip\` of \`eip_gone\`*  ·  <!date^1795176000^{time} {date_short_pretty}|2026-11-20 12:00 UTC>
      by Mallory"
    `)
    expect((await list(['nothing-of-the-kind'])).empty.text).toMatchInlineSnapshot(
      `"No entry matches \`nothing-of-the-kind\`. Use fewer or other words. To find a person, mention them with \`@\`, or type \`me\`."`,
    )
  })

  test.each([
    [['web-2'], 'a word that can be a name'],
    [['me', 'approve', 'ada'], 'such a word among others'],
  ])('of %j says once how to find a person, below the rows: %s', async (words) => {
    const kept = entriesOf({ ...move, act: 'approve', by: ada, reason: 'as ada asked' })
    const { rows, notes = [] } = await list(words, {}, kept)

    expect(rows).toHaveLength(1)
    expect(notes.filter(({ text }) => text.includes('To find a person'))).toEqual([notes.at(-1)])
    expect(notes.at(-1)?.text).toBe('To find a person, mention them with `@`, or type `me`.')
  })

  test.each([[['me']], [['ip.move']], [['approve']], [['<@U0ADA00001>']], [['203.0.113.10']], [[]]])(
    'of %j does not say how to find a person',
    async (words) => {
      const listing = await list(words, {}, entriesOf({ ...move, act: 'approve', by: ada }))

      expect(listing.rows).toHaveLength(1)
      expect(around(listing)).not.toContain('To find a person')
    },
  )

  test('says it once where nothing matches', async () => {
    const { empty, notes = [] } = await list(['nothing-of-the-kind'])

    expect(texts([empty, ...notes]).match(/To find a person/g)).toHaveLength(1)
  })

  test.each([['2026-11-23'], ['today'], ['Yesterday']])('that is empty for %s says where dates are filtered', async (word) => {
    expect((await list([word])).empty.text).toBe(
      `No entry matches \`${word}\`. Dates can't be searched. Leave the date out, and use the filter below the table.`,
    )
    expect((await list(['ip.move', word])).empty.text).toContain("Dates can't be searched.")
  })

  test('counts the resources whose events it does not show', async () => {
    const queries: unknown[] = []
    const ids = ['eip_9VMfKLoJbV4mE', 'eip_AVMfKLoJbV4mE', 'eip_BVMfKLoJbV4mE', 'eip_CVMfKLoJbV4mE']
    expect(around(await list(ids, { queries }))).toContain("The account's own events for 1 resource aren't shown:")
    expect(queries).toHaveLength(3)
  })

  test('leaves out events of other resources', async () => {
    const listing = await list(['203.0.113.10'], {
      events: [event('delete.elastic_ip', noon, { target: { id: 'eip_5XeqG3IsznOS2', name: 'x' } })],
    })
    expect(listing.rows).toHaveLength(1)
  })

  test('says if the events cannot be read, and shows the requests', async () => {
    const fails = new ApiError({ operation: 'events.list', status: 403, codes: [] })
    const listing = await list(['203.0.113.10'], { fails })
    expect(listing.rows).toHaveLength(1)
    expect(around(listing)).toMatchInlineSnapshot(`
      "Audit: 1 request matching \`203.0.113.10\`, newest first
      :warning: Couldn't read the account's own events for \`eip_1GijF7NsZe3bN\`. Lockkeeper's API key isn't allowed to do this (403). It may be read-only, or limited to other addresses. Tell the people who run Lockkeeper.
      Searched all 9 entries, back to <!date^1795176000^{time} {date_short_pretty}|2026-11-20 12:00 UTC>. A request has an entry for each of its steps."
    `)
  })

  test('says that it searched a single entry', async () => {
    const found = await list([], {}, entriesOf({ ...move, act: 'request', by: ada, requestId: '0'.padStart(32, '0') }))

    expect(around(found)).toContain('Searched 1 entry, back to')
  })

  test('counts the requests and the entries that it leaves out', async () => {
    const many = entriesOf(
      ...Array.from({ length: 50 }, (_, index) => ({ ...move, act: 'request', by: ada, requestId: String(index).padStart(32, '0') })),
    )
    const found = await list(
      ['eip_1GijF7NsZe3bN'],
      { events: Array.from({ length: 100 }, () => event('update.elastic_ip', noon, mallory)), older: 1_234 },
      many,
    )
    expect(around(found)).toMatchInlineSnapshot(`
      "Audit: 30 requests and 100 events of the account matching \`eip_1GijF7NsZe3bN\`, newest first
      Also searched the account's own events for \`eip_1GijF7NsZe3bN\` since <!date^1795089620^{time} {date_short_pretty}|2026-11-19 12:00 UTC>. Of \`eip_1GijF7NsZe3bN\` only the newest 100.
      Searched the newest 50 entries, back to <!date^1795176000^{time} {date_short_pretty}|2026-11-20 12:00 UTC>. 1,234 older ones weren't searched. Only the newest are shown, and 20 more match: add words to see them. A request has an entry for each of its steps.
      To find a person, mention them with \`@\`, or type \`me\`."
    `)
  })

  test('says if the audit is empty', async () => {
    const listing = await list([], {}, [])
    expect(listing.empty.text).toMatchInlineSnapshot(`"The audit has no entries yet."`)
    expect(listing.notes?.map(({ text }) => text).join()).not.toContain('Searched')
  })

  test('has the steps of each request, in their order', async () => {
    const shown = await stepsOf(move.requestId)

    expect(
      shown && texts([shown.title, ...shown.facts.map(({ label, words }) => mrkdwn`${label}: ${words}`), ...(shown.notes ?? [])]),
    ).toMatchInlineSnapshot(`
      "“Move 203.0.113.10: web-1 → web-2”
      Requested: <@U0ADA00001>, <!date^1795176000^{time} {date_short_pretty}|2026-11-20 12:00 UTC>  ·  every full member can request  ·  reason: \`web-1 is to be &lt;rebooted&gt;\`
      Reminded the approvers: <!date^1795176001^{time} {date_short_pretty}|2026-11-20 12:00 UTC>
      Approved: <@U0BEN00001>, <!date^1795176002^{time} {date_short_pretty}|2026-11-20 12:00 UTC>  ·  setting \`APPROVERS\`: <!subteam^S0ONCALL01>
      Sent to the account: <!date^1795176003^{time} {date_short_pretty}|2026-11-20 12:00 UTC>
      Accepted by the account: <!date^1795176004^{time} {date_short_pretty}|2026-11-20 12:00 UTC>  ·  account API: move accepted (202)
      Done: <!date^1795176005^{time} {date_short_pretty}|2026-11-20 12:00 UTC>
      Request \`1a2b3c4d00112233445566778899aabb\` in <#C0OPS00001>"
    `)
  })

  test('counts refused attempts and unverified entries that it leaves out of the steps', async () => {
    const refused = entriesOf(...Array.from({ length: 40 }, () => ({ ...move, act: 'refused', by: dov, attempted: 'decide' })))
    const forged = entriesOf(...Array.from({ length: 12 }, () => ({ ...move, act: 'approve', by: dov })))
    const kept = [
      ...wholeMove,
      ...refused.map((entry) => ({ ...entry, seq: entry.seq + 100 })),
      ...forged.map((entry) => ({ ...entry, seq: entry.seq + 200, verdict: 'forged' as const })),
    ]
    const shown = await stepsOf(move.requestId, kept)

    expect(shown?.facts).toHaveLength(6 + 10 + 10)
    expect(texts(shown?.notes ?? [])).toContain("30 more refused attempts aren't shown.\n2 more unverified entries aren't shown.")
  })

  test('has no steps of a request that is not in the audit, nor of what cannot be a request', async () => {
    expect(await stepsOf('f'.repeat(32))).toBeUndefined()
    expect(await stepsOf('constructor')).toBeUndefined()
  })

  test('does not search for steps while the same person searches', async () => {
    const { commands, details } = featureOver({}, entries)
    const searching = commands[0]?.run({ args: [], slashCommand: { origin: { userId: ada } }, list: async () => {} } as never)

    await expect(details?.['audited-request']?.(move.requestId, { userId: ada } as never)).rejects.toThrow('still running')
    await searching
  })
})
