import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Grant } from '../../src/domain/approval.ts'
import { type PolicyRule, toGroup } from '../../src/domain/policy.ts'
import type { Request } from '../../src/domain/request.ts'
import { admit, authorize, gate } from '../../src/rights/authorize.ts'
import { Refusal } from '../../src/slack/errors.ts'
import { requestFor, ruleFor } from '../given/request.ts'
import { ada, approveBy, ben, project, setUp, type Workspace } from './workspace.ts'

/** Everybody whom Lockkeeper tells apart. The rule names those below the requester as approvers, whatever became of them. */
const people = {
  'the requester': 'U0ADA00001',
  'another member': 'U0DEE00001',
  'an approver, by name': 'U0EVE00001',
  'an approver, by group': ben.userId,
  'one who is only escalated to': 'U0LEA00001',
  'a guest': 'U0GUE00001',
  'a bot of Slack': 'U0BOT00001',
  'a deactivated person': 'U0OUT00001',
  'a stranger': 'U0STR00001',
  'somebody of another workspace': 'U0FAR00001',
  'somebody of the same organization': 'U0ORG00001',
  'somebody of an unknown workspace': 'U0WHO00001',
  'somebody of whom Slack says nothing': 'U0MUM00001',
  alerts: 'alerts',
  'a machine': 'machine:ci',
}
type Who = keyof typeof people
const named = Object.values(people).slice(2)

const rule = (more: Partial<PolicyRule> = {}) => {
  const approve = { ...approveBy(['S0ONCALL01', ...named.filter((id) => id !== ben.userId && id !== 'U0LEA00001')]) }
  return ruleFor({ approve: { ...approve, escalate: { afterMs: 1, to: toGroup(['U0LEA00001']) } }, ...more })
}

const everybody: Workspace = {
  groups: { S0ONCALL01: [ben.userId] },
  standings: { U0GUE00001: 'guest', U0BOT00001: 'bot', U0OUT00001: 'deleted', U0STR00001: 'stranger', U0MUM00001: 'unknown' },
  teams: { U0FAR00001: ['T0OTHER001'], U0WHO00001: [], U0STR00001: ['E0CORP', 'T0NIMBUS01'], U0ORG00001: ['E0CORP', 'T0NIMBUS01'] },
}

interface Situation extends Workspace {
  /** The request on which somebody acts, if it is not the usual one of Ada. */
  request?: Partial<Request>
  channelId?: string
}

const terms = approveBy(['U0EVE00001', 'S0ONCALL01'])
const standings = ['direct', 'group-direct', 'shared', 'unknown', 'unreadable'] as const
const elsewhere = { ids: ['proj_2RBis9AK23gEc'], names: [] }
const evacuation = (more: Partial<PolicyRule> = {}) => ruleFor({ name: 'failover', changes: ['ip.evacuate'], approve: terms, ...more })

const situations: Record<string, Situation> = {
  'a usual rule, in a usual channel': {},
  ...Object.fromEntries(standings.map((channel) => [`the channel is ${channel}`, { channel }])),
  'on the Home tab, where the request has its own channel': { channelId: '' },
  'Slack does not list the group': { groups: { S0ONCALL01: 'unknown' } },
  'nobody is in the group any more': { groups: { S0ONCALL01: [] } },
  'the request is approved': { request: { state: 'approved' } },
  'the rule allows emergency approvals': { rules: [rule({ breakGlass: true, emergency: true })] },
  'the rule lets some people request, and lets one person approve alone': {
    rules: [rule({ request: toGroup(['U0ADA00001', 'S0ONCALL01']), approve: approveBy(['U0ADA00001']), breakGlass: true })],
  },
  'a group that Slack does not list may request': {
    rules: [rule({ request: toGroup(['S0ONCALL01']) })],
    groups: { S0ONCALL01: 'unknown' },
  },
  'the rule requires a person and a group': { rules: [rule({ approve: { ...approveBy([]), allOf: ['U0EVE00001', 'S0ONCALL01'] } })] },
  'the rule names no approver': { rules: [rule({ approve: approveBy([]) })] },
  'the rule needs no approval': { rules: [rule({ approve: undefined, breakGlass: true })] },
  'there is no rule': { rules: [] },
  'the rules are for other channels': {
    rules: [rule({ channels: ['C0TWO00001', 'C0TRE00001'] }), rule({ channels: ['C0TRE00001'] })],
  },
  'the rules are for other projects, and for other people': {
    rules: [rule({ projects: elsewhere }), rule({ name: 'later', request: toGroup(['U0DEE00001']) })],
  },
  'the rule depends on a project that is not known': { rules: [rule({ projects: elsewhere })], projectNow: 'unknown' },
  'the rule names alerts and the machine': { rules: [rule({ alerts: true, machines: ['machine:ci'], request: toGroup(['U0ADA00001']) })] },
  'the rule names alerts and the machine, and needs no approval': {
    rules: [rule({ alerts: true, machines: ['machine:ci'], approve: undefined })],
  },
  'alerts made the request': { rules: [rule({ alerts: true })], request: { origin: { ...ada, userId: 'alerts' } } },
  'the machine made the request': { rules: [rule({ machines: ['machine:ci'] })], request: { origin: { ...ada, userId: 'machine:ci' } } },
  'the machine made the request, and the rule no longer names it': { request: { origin: { ...ada, userId: 'machine:ci' } } },
  'only some people may freeze': {
    rules: [rule(), ruleFor({ changes: ['freeze'], request: toGroup(['U0DEE00001']), approve: undefined })],
  },
  'everybody may freeze': { rules: [rule(), ruleFor({ changes: ['freeze'], approve: undefined })] },
  'an evacuation, under the rule of moves alone': {
    rules: [rule()],
    bundles: new Map([['ip.evacuate', 'ip.move']]),
    request: { kind: 'ip.evacuate' },
  },
  'an evacuation under its own rule and that of moves': {
    rules: [evacuation({ breakGlass: true }), rule({ approve: approveBy(['U0EVE00001', 'U0LEA00001']), breakGlass: true })],
    bundles: new Map([['ip.evacuate', 'ip.move']]),
    request: { kind: 'ip.evacuate' },
  },
  'an evacuation, and the rule of moves depends on a project that is not known': {
    rules: [evacuation(), rule({ projects: elsewhere })],
    projectNow: 'unknown',
    bundles: new Map([['ip.evacuate', 'ip.move']]),
    request: { kind: 'ip.evacuate' },
  },
}

const Refused = z.object({ code: z.string(), action: z.string().optional(), channels: z.array(z.string()).optional() })

/** What each act is answered: as whom it is allowed, or the code of the denial, with what it denies and the channels that a rule names. */
async function answersIn({ request: of = {}, channelId = ada.channelId, ...workspace }: Situation, who: Who) {
  const { app, noted } = setUp({ rules: [rule()], ...everybody, ...workspace, groups: { ...everybody.groups, ...workspace.groups } })
  const by = { ...ada, channelId, userId: people[who] }
  const request = requestFor(of)
  const own = requestFor({ ...of, origin: { ...request.origin, userId: by.userId } })
  const where = workspace.projectNow ?? project

  async function requesting(): Promise<Grant> {
    const requester = await gate(app, by, request.kind)
    const { rule, unchecked } = await admit(app, by, {
      ...{ kind: request.kind, project: where, requester, reason: undefined },
      draft: { input: {}, facts: {} },
    })
    return { via: [rule.name, ...unchecked.map(({ code }) => `(${code})`)].join(' ') }
  }
  const acts: Record<string, () => Promise<Grant>> = {
    use: () => authorize(app, by, { to: 'read' }),
    request: requesting,
    decide: () => authorize(app, by, { to: 'decide', request }),
    'past a hold': () => authorize(app, by, { to: 'emergency', request }),
    'alone, their own': () => authorize(app, by, { to: 'break-glass', request: own }),
    'alone, this one': () => authorize(app, by, { to: 'break-glass', request }),
    'its secret': () => authorize(app, by, { to: 'issue', request }),
    withdraw: () => authorize(app, by, { to: 'withdraw', request }),
    'stop tracking': () => authorize(app, by, { to: 'track', request }),
    freeze: () => authorize(app, by, { to: 'freeze' }),
    unfreeze: () => authorize(app, by, { to: 'unfreeze' }),
  }
  const answers: [act: string, answer: string][] = []
  // One after the other, because the cause of a denial is the last that was noted.
  for (const [act, ask] of Object.entries(acts))
    answers.push([
      act,
      await ask().then(
        ({ via }) => `**${via}**`,
        (error: unknown) => {
          if (!(error instanceof Refusal)) throw error
          const { code, action, channels = [] } = Refused.parse(noted.at(-1)?.causes?.[0])
          return [code, ...(action ? [`(${action})`] : []), ...channels].join(' ')
        },
      ),
    ])
  return answers
}

test('who may what', async () => {
  const usual = new Map<string, string>()
  const sections: string[] = []
  for (const [name, situation] of Object.entries(situations)) {
    const acts = new Set<string>()
    const rows: [who: string, differs: Map<string, string>][] = []
    for (const who of Object.keys(people) as Who[]) {
      const differs = new Map<string, string>()
      for (const [act, answer] of await answersIn(situation, who)) {
        const before = usual.get(`${who} ${act}`)
        if (before === undefined) usual.set(`${who} ${act}`, answer)
        if (answer === before) continue
        acts.add(act)
        differs.set(act, answer)
      }
      if (differs.size > 0) rows.push([who, differs])
    }
    const cells = (differs: Map<string, string>) => [...acts].map((act) => differs.get(act) ?? '').join(' | ')
    const lines = [...Map.groupBy(rows, ([, differs]) => cells(differs))].map(
      ([answers, same]) => `| ${same.map(([who]) => who).join(', ')} | ${answers} |`,
    )
    const table = [`| who | ${[...acts].join(' | ')} |`, `|---|${'---|'.repeat(acts.size)}`, ...lines]
    sections.push(`## ${name}\n\n${lines.length > 0 ? table.join('\n') : 'Nothing differs.'}\n`)
  }
  const intro =
    'Bold: allowed, as whom; for a request, under which rule, and what was not checked. Otherwise the code of the denial. Below the first table, only what differs from it is shown. Ada made the request.'
  await expect(`# Who may what\n\n${intro}\n\n${sections.join('\n')}`).toMatchFileSnapshot('who-may-what.md')
})
