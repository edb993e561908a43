import { expect, onTestFinished } from 'vitest'
import type { Finding } from '../../src/domain/change.ts'
import type { Request } from '../../src/domain/request.ts'
import type { RequestSignatures } from '../../src/domain/request-signature.ts'
import type { StepData } from '../../src/record/store.ts'
import { type PlannedStep, takeSteps } from '../given/take-steps.ts'
import { policyInFile } from './policy-in-file.ts'
import { openRecords } from './records.ts'
import { ops, people, startWorld, type World } from './world.ts'

const finn = 'U0FIN00001'
const ines = 'U0INE00001'

export const walkers = {
  requester: people.ada,
  approver: people.ben,
  'approver who has approved': people.chiara,
  'member without rights': finn,
  guest: people.dov,
  stranger: ines,
}
export type Walker = keyof typeof walkers

/** They are refused before the request is read, so that one state of it is enough. */
export const outsiders: Walker[] = ['guest', 'stranger']

const policy = `
rules:
  - name: names
    changes: vm.rename
    request: [U0ADA00001, S0ONCALL01]
    approve: { any_of: [S0ONCALL01], approvals: 2 }
  - name: everything else
    request: [U0ADA00001, S0ONCALL01]
    approve: [S0ONCALL01]
`

/** Starts a world without a worker, so that only clicks change a request. */
export async function startQuietWorld() {
  const world = await startWorld({
    env: { POLICY_FILE: policyInFile(policy), ROLE: 'web', OPS_CHANNEL: ops, OPEN_REQUESTS_PER_PERSON: '1000' },
  })
  const { people: staff, channels } = world.slack.workspace
  staff.push({ id: finn, name: 'Finn Aalto', handle: 'finn' })
  staff.push({ id: ines, name: 'Ines Roth', handle: 'ines', isStranger: true, teamId: 'T0PARTNER1' })
  for (const channel of channels) channel.members.push(finn, ines)
  const records = openRecords(world)
  // Otherwise approved requests would note that no worker is running.
  const beat = () => void records.store.noteWorker('elsewhere').catch(() => {})
  beat()
  const beating = setInterval(beat, 5_000)
  onTestFinished(() => clearInterval(beating))
  return { ...world, records }
}
export type QuietWorld = Awaited<ReturnType<typeof startQuietWorld>>

const byChiara = { by: people.chiara, rule: 'everything else', via: 'S0ONCALL01' }
const approved: StepData = {
  set: { decision: byChiara, approvals: [{ ...byChiara, at: 1 }] },
}
const rejection: StepData = { set: { decision: { ...byChiara, reason: 'Not during the sale' } } }
const oneApproval: StepData = { set: { approvals: [{ ...byChiara, rule: 'names', at: 1 }] } }
const because = (cause: Finding): StepData => ({ set: { causes: [cause] } })
const underWay: PlannedStep[] = [['approve', approved], 'send', 'accept']

export interface Row {
  state: Request['state']
  kind?: 'vm.rename' | 'key.create'
  steps: PlannedStep[]
  ttlMs?: number
}

/** The states, by the names that people use. Each is reached through the real store. */
export const rows: Record<string, Row> = {
  waiting: { state: 'waiting', steps: [] },
  'waiting, with 0 of 2 approvals': { state: 'waiting', kind: 'vm.rename', steps: [] },
  'waiting, with 1 of 2 approvals': { state: 'waiting', kind: 'vm.rename', steps: [['count-approval', oneApproval]] },
  'waiting, and its time is over': { state: 'waiting', steps: [], ttlMs: 1 },
  approved: { state: 'approved', steps: [['approve', approved]] },
  'approved, to be handed over': { state: 'approved', kind: 'key.create', steps: [['approve', { ...approved, extendMs: 3_600_000 }]] },
  starting: { state: 'starting', steps: [['approve', approved], 'send'] },
  tracking: { state: 'tracking', steps: underWay },
  done: { state: 'done', steps: [...underWay, 'finish'] },
  failed: { state: 'failed', steps: [...underWay, ['fail', because({ code: 'status-error', address: '203.0.113.10' })]] },
  'not started': { state: 'not-started', steps: [['approve', approved], 'send', ['not-start', because({ code: 'rule-gone' })]] },
  superseded: {
    state: 'superseded',
    steps: [...underWay, ['supersede', because({ code: 'moved-by-others', address: '203.0.113.10', server: 'web-3', isMoving: false })]],
  },
  'no longer followed': { state: 'untracked', steps: [...underWay, ['stop-tracking', { set: { stoppedBy: people.chiara } }]] },
  void: {
    state: 'voided',
    steps: [
      ['approve', approved],
      ['void', because({ code: 'server-changed', address: '203.0.113.10', now: 'web-3' })],
    ],
  },
  rejected: { state: 'rejected', steps: [['reject', rejection]] },
  withdrawn: { state: 'withdrawn', steps: ['withdraw'] },
  expired: { state: 'expired', steps: ['expire'] },
}
/** Creates a request in the state of a row. */
export async function bring(
  { accountApi, records, signatures }: QuietWorld,
  { kind, steps, ttlMs, state }: Row,
  walker: Walker,
): Promise<Request> {
  count += 1
  const planned =
    kind === 'vm.rename'
      ? renaming(accountApi)
      : kind === 'key.create'
        ? newKey()
        : moving(accountApi, state === 'done' ? walker : undefined)
  const request = await records.create({ ...planned, ...(ttlMs ? { ttlMs } : {}) })
  const brought = await takeSteps(records.store, request.id, ...steps.map((step) => withSigned(signatures, request, step)))
  expect(brought.state).toBe(state)
  return brought
}

/** Returns a step with the approvals and the decision that it sets as the bot would have signed them. */
function withSigned({ signApproval, signApproved }: RequestSignatures, request: Request, step: PlannedStep): PlannedStep {
  const [name, data = {}] = typeof step === 'string' ? [step] : step
  const approvals = data.set?.approvals?.map((approval) => signApproval(request, { ...approval, at: request.createdAt }))
  if (!approvals) return step
  const { decision } = data.set ?? {}
  const signed = decision && { decision: signApproved({ ...request, approvals }, { ...decision, at: request.createdAt }) }
  return [name, { ...data, set: { ...data.set, approvals, ...signed } }]
}

let count = 0
const project = { id: 'proj_1oNqx62cx6bn0', name: 'Storefront' }

function renaming({ world }: World['accountApi']) {
  const [machine] = world.data.virtualMachines
  const input = { virtualMachineId: machine?.id ?? '', name: 'search-2' }
  const facts = { virtualMachineId: input.virtualMachineId, oldName: machine?.name, newName: input.name, project }
  return { kind: 'vm.rename' as const, resource: `virtual_machine:${input.virtualMachineId}#${count}`, input, facts }
}

function newKey() {
  const input = { name: `ci-deploy-${count}`, readOnly: true, allowedIps: [] }
  return { kind: 'key.create' as const, resource: `api_key_name:${input.name}`, input, facts: input }
}

/** Returns a move that is requested, or that has arrived. Arrived moves differ by person, so that each person can request the way back. */
function moving({ world }: World['accountApi'], arrivedFor: Walker | undefined) {
  const { elasticIp, target } = world.movable(arrivedFor === undefined ? 0 : Object.keys(walkers).indexOf(arrivedFor))
  const here = { id: elasticIp.serverId ?? '', name: world.server(elasticIp.serverId ?? '')?.hostname ?? '' }
  const there = { id: target.id, name: target.hostname }
  const [from, to] = arrivedFor === undefined ? [here, there] : [there, here]
  const input = { elasticIpId: elasticIp.id, serverId: to.id }
  const facts = { elasticIpId: elasticIp.id, address: elasticIp.address, from, to, project }
  // A made-up request does not hold the Elastic IP, so that a click that requests a change finds it free.
  return { kind: 'ip.move' as const, resource: `elastic_ip:${elasticIp.id}#${count}`, input, facts }
}

export const refused = 'Not possible'
