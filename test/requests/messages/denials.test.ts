import { describe, expect, test } from 'vitest'
import { Denial, type DenialCode, isForLackOfAnswer } from '../../../src/domain/denial.ts'
import { toGroup } from '../../../src/domain/policy.ts'
import { denialWords, storedDenialWords } from '../../../src/requests/messages/denials.ts'
import { terms } from '../../domain/people-for-test.ts'

const labelOf = (kind: string) => (kind === 'ip.move' ? 'moving an Elastic IP' : kind)

/** One denial per code. A new code does not compile until it has one here. */
const denials: Record<DenialCode, Denial> = {
  guest: { code: 'guest', action: 'read' },
  bot: { code: 'bot', action: 'request' },
  deactivated: { code: 'deactivated', action: 'decide' },
  'other-workspace': { code: 'other-workspace', action: 'read' },
  'shared-channel': { code: 'shared-channel', action: 'request' },
  'person-unknown': { code: 'person-unknown', action: 'decide' },
  'channel-unknown': { code: 'channel-unknown', action: 'read' },
  'direct-message': { code: 'direct-message' },
  'not-in-channel': { code: 'not-in-channel' },
  'foreign-channel': { code: 'foreign-channel' },
  'no-rule': { code: 'no-rule', kind: 'ip.move', channels: ['C0OPS00001', 'C0GENERAL1'] },
  'project-unknown': { code: 'project-unknown', rule: 'production' },
  'not-a-requester': { code: 'not-a-requester', requesters: toGroup(['U0ADA00001', 'S0ONCALL01']) },
  'alerts-not-named': { code: 'alerts-not-named', rule: 'production' },
  'alerts-need-approval': { code: 'alerts-need-approval', rule: 'staging' },
  'not-an-approver': { code: 'not-an-approver', approvers: terms(['U0BEN00001', 'S0ONCALL01'], { approvals: 2 }) },
  'too-few-approvers': { code: 'too-few-approvers', rule: 'production', needed: 2 },
  'group-unknown': { code: 'group-unknown' },
  'own-request': { code: 'own-request' },
  'rule-gone': { code: 'rule-gone' },
  'only-requester-may-issue': { code: 'only-requester-may-issue', requester: 'U0ADA00001' },
  'only-requester-may-withdraw': { code: 'only-requester-may-withdraw', requester: 'U0ADA00001' },
  'only-requester-may-break-glass': { code: 'only-requester-may-break-glass', requester: 'U0ADA00001' },
  'stale-card': { code: 'stale-card' },
  'foreign-button': { code: 'foreign-button' },
  'unknown-request': { code: 'unknown-request' },
  'changed-record': { code: 'changed-record' },
  'unknown-key': { code: 'unknown-key' },
  'other-version': { code: 'other-version' },
}

const wordsOf = (denial: Denial) => denialWords(denial, labelOf).text

describe('a denial in words', () => {
  test('says why and what to do, for each code', () => {
    const lines = Object.entries(denials).map(([code, denial]) => `${code}: ${wordsOf(denial)}`)

    expect(lines.join('\n')).toMatchInlineSnapshot(`
      "guest: Guests may not use this bot. Ask a full member of this workspace.
      bot: Bots may not ask for changes.
      deactivated: Deactivated accounts may not decide requests.
      other-workspace: People of other workspaces may not use this bot. Ask a member of this one.
      shared-channel: This channel is shared with another organisation (Slack Connect), and nobody may ask for changes in one. Use a channel of this workspace alone.
      person-unknown: Slack did not tell who you are just now, and without that nobody may decide requests. Nothing was done: try again in a minute.
      channel-unknown: Slack did not tell just now whether this channel is shared with another organisation, and without that nobody may use this bot here. Nothing was done: try again in a minute.
      direct-message: Changes cannot be asked for in a direct message, because nobody else could approve them there. Ask in a channel.
      not-in-channel: I'm not in this channel. Run \`/invite @Lockkeeper\`, then try again.
      foreign-channel: Slack doesn't list you as a member of this channel. Choose another one.
      no-rule: No rule of the policy lets anybody ask for moving an Elastic IP in this channel, so it is refused. Ask in <#C0OPS00001> or <#C0GENERAL1>.
      project-unknown: Whether the rule “production” holds depends on the project, and the account API does not tell it just now. Nothing was asked for: try again in a minute.
      not-a-requester: You are not among the people who may ask for this here (<@U0ADA00001> and <!subteam^S0ONCALL01>). Ask one of them, or the people who run this bot.
      alerts-not-named: The rule “production” doesn't let alerts request this. Nothing was requested.
      alerts-need-approval: The rule “staging” needs no approval, and what alerts request always needs one. Nothing was requested.
      not-an-approver: You are not an approver of this. 2 of <@U0BEN00001> or <!subteam^S0ONCALL01> can decide it.
      too-few-approvers: It takes 2 approvals of other people, and fewer than that could give one: the rule “production” names too few active members of this workspace. Nothing was asked for. The people who run this bot can name more.
      group-unknown: Slack did not tell who is in the user group just now, so this cannot be checked. Nothing was done: try again in a minute.
      own-request: You asked for this yourself, so another person has to decide it. You can withdraw it.
      rule-gone: No rule of the policy says who may decide this any more, so nobody may. It can be withdrawn and asked for again.
      only-requester-may-issue: Only <@U0ADA00001>, who asked for this, can take it: its secret is for their eyes alone.
      only-requester-may-withdraw: Only <@U0ADA00001>, who asked for this, can withdraw it. An approver can reject it.
      only-requester-may-break-glass: Only <@U0ADA00001>, who asked for this, can approve it alone.
      stale-card: This button is not on the card of this request, so I do not act on it. Use the card itself.
      foreign-button: This button does not belong to the request that it names: it was made for something else, or changed. I do not act on it. Use the request's own card.
      unknown-request: Lockkeeper no longer has this request: it is older than 30 days, or Redis lost its data. Nothing was done. \`/infra audit\` may still show it. To make the change, run the command again.
      changed-record: What I keep of this request is no longer what was asked for, so I do not act on it, and have told the people who run me. Ask again with the command.
      unknown-key: This request was signed with a key that Lockkeeper doesn't have (\`STATE_KEY\`). Nothing was changed. Request it again, or ask the people who run this bot to restore the key.
      other-version: Another version of Lockkeeper made this request. Try again in a few minutes; nothing was changed."
    `)
  })

  test('says where else it can be requested, or that there is no rule at all', () => {
    expect(wordsOf({ code: 'no-rule', kind: 'ip.move', channels: ['C0OPS00001'] })).toMatch(/Ask in <#C0OPS00001>\.$/)
    expect(wordsOf({ code: 'no-rule', kind: 'ip.move', channels: [] })).toMatch(/The people who run this bot can add a rule for it\.$/)
  })

  test('says how many approvers are missing', () => {
    const one = wordsOf({ code: 'too-few-approvers', rule: 'production', needed: 1 })
    expect(one).toMatch(/^Nobody else could approve this: the rule “production” names too few/)
  })

  test('names no person where alerts requested, or only alerts may request', () => {
    expect(wordsOf({ code: 'not-a-requester', requesters: toGroup([]) })).toBe(
      'Only alerts can request this here. Ask the people who run this bot.',
    )
    expect(wordsOf({ code: 'only-requester-may-withdraw', requester: 'alerts' })).toBe(
      'An alert requested this, so nobody can withdraw it. It ends when the alert resolves, or an approver can reject it.',
    )
    expect(wordsOf({ code: 'only-requester-may-break-glass', requester: 'alerts' })).toBe(
      'An alert requested this, so nobody can approve it alone.',
    )
  })

  test('shows the names of rules as text', () => {
    expect(wordsOf({ code: 'project-unknown', rule: '<!channel> & co' })).toContain('“&lt;!channel&gt; &amp; co”')
    expect(wordsOf({ code: 'too-few-approvers', rule: '<!here>', needed: 1 })).not.toContain('<!here>')
  })
})

describe('a stored denial', () => {
  test.each(Object.values(denials))('$code is the same after its way through the audit', (denial) => {
    expect(Denial.parse(JSON.parse(JSON.stringify(denial)))).toEqual(denial)
    expect(storedDenialWords(JSON.parse(JSON.stringify(denial)), labelOf).text).toBe(wordsOf(denial))
  })

  test('is shown as its code if this version does not know the code or its content', () => {
    expect(storedDenialWords({ code: 'on-vacation', until: 'Monday' }, labelOf).text).toBe('`on-vacation`')
    expect(storedDenialWords({ code: 'guest', action: 'teleport' }, labelOf).text).toBe('`guest`')
    expect(storedDenialWords({ code: '<!channel>' }, labelOf).text).toBe('`&lt;!channel&gt;`')
  })
})

test('a denial for lack of an answer is one that Slack’s silence caused', () => {
  const codes = Object.values(denials)
    .filter(isForLackOfAnswer)
    .map(({ code }) => code)
  expect(codes.toSorted()).toEqual(['channel-unknown', 'group-unknown', 'person-unknown'])
})
