import { expect, test } from 'vitest'
import type { Change } from '../../src/domain/change.ts'
import type { Request } from '../../src/domain/request.ts'
import { evacuation } from '../../src/features/moves/ip-evacuate.ts'
import { findEarlier } from '../../src/life/history.ts'
import { createCatalog } from '../../src/record/catalog.ts'
import { fakeApp } from '../fake-app.ts'
import { catalog } from '../given/catalog.ts'
import { moveFacts, requestFor } from '../given/request.ts'

const input = { elasticIpId: moveFacts.elasticIpId, serverId: moveFacts.to.id }
const done = requestFor({ state: 'done', input, facts: moveFacts })
const rejected = requestFor({ state: 'rejected', input, facts: moveFacts })
const { change: move } = catalog.open(done)
const [moves, evacuations] = [catalog, createCatalog([evacuation(fakeApp({})) as unknown as Change])]

/** What a form moves: the address back, or once more. */
const back = { input: { ...input, serverId: moveFacts.from.id }, facts: { ...moveFacts, from: moveFacts.to, to: moveFacts.from } }
const again = { input, facts: moveFacts }

const [web1, web2] = [
  { id: 'sv_1', name: 'web-1' },
  { id: 'sv_2', name: 'web-2' },
]
/** What an evacuation of these addresses moves from one server to another. */
const evacuate = (from: typeof web1, to: typeof web1, ...ids: string[]) => ({
  input: { serverId: from.id, targetId: to.id, elasticIpIds: ids },
  facts: { from, to, items: ids.map((elasticIpId) => ({ elasticIpId, from, to })), leftOut: [] },
})
const backFromOff = evacuate(web2, web1, 'eip_1')
for (const item of backFromOff.facts.items) Object.assign(item, { toStatus: 'off' })
const evacuated = requestFor({
  state: 'done',
  kind: 'ip.evacuate',
  ...evacuate(web1, web2, 'eip_1', 'eip_2'),
  items: ['eip_1', 'eip_2'].map((id) => ({ id, state: 'done' as const, causes: [] })),
})
const elsewhere = { id: 'sv_3', name: 'web-3' }

interface Wanted {
  kind?: string
  input: object
  facts: object
}

test.each<[what: string, how: 'undoes' | 'repeats', earlier: Request | undefined, wanted: Wanted, isFound: boolean]>([
  ['undoes a move', 'undoes', done, back, true],
  ['undoes a move from a server that is off', 'undoes', done, { ...back, facts: { ...back.facts, toStatus: 'off' } }, true],
  ['goes to another server', 'undoes', done, { ...back, input: { ...back.input, serverId: 'sv_3' } }, false],
  ['is of another kind', 'undoes', done, { ...back, kind: 'vm.rename' }, false],
  ['undoes what is not done', 'undoes', { ...done, state: 'failed' }, back, false],
  ['undoes what was never posted', 'undoes', { ...done, cardTs: undefined }, back, false],
  ['undoes what is gone', 'undoes', undefined, back, false],
  ['is of an address that has moved on since', 'undoes', done, { ...back, facts: { ...back.facts, from: elsewhere } }, false],
  ['repeats a rejected one', 'repeats', rejected, again, true],
  ['repeats it with another server', 'repeats', rejected, { ...again, input: { ...input, serverId: 'sv_3' } }, false],
  ['repeats one that has not ended', 'repeats', { ...rejected, state: 'waiting' }, again, false],
  ['undoes an evacuation, in whatever order', 'undoes', evacuated, evacuate(web2, web1, 'eip_2', 'eip_1'), true],
  ['undoes a part of it', 'undoes', evacuated, evacuate(web2, web1, 'eip_2'), true],
  ['undoes one from a server that is off', 'undoes', evacuated, backFromOff, true],
  ['moves another address', 'undoes', evacuated, evacuate(web2, web1, 'eip_1', 'eip_3'), false],
  ['moves them elsewhere', 'undoes', evacuated, evacuate(web2, elsewhere, 'eip_1', 'eip_2'), false],
  ['retries the rest of it', 'repeats', evacuated, evacuate(web1, web2, 'eip_2'), true],
  ['retries it with another address', 'repeats', evacuated, evacuate(web1, web2, 'eip_2', 'eip_3'), false],
  ['retries it elsewhere', 'repeats', evacuated, evacuate(web1, elsewhere, 'eip_2'), false],
])('a request from a form that %s names the earlier one only if it does that', async (_, how, earlier, { kind, ...wanted }, isFound) => {
  const own = earlier?.kind === 'ip.evacuate' ? evacuations : moves
  const change = own === moves ? move : own.open(evacuated).change
  const app = fakeApp({ store: { find: async () => earlier }, catalog: own })

  const found = await findEarlier(app, { [how]: done.id }, { change: kind ? { ...change, kind } : change, ...wanted })

  expect(found).toEqual(isFound ? { [how === 'undoes' ? 'undone' : 'repeated']: earlier } : {})
})
