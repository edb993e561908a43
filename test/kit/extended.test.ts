import { expect, test } from 'vitest'
import { changeFeature } from '../../src/kit/change-feature.ts'
import { text } from '../../src/kit/change-form.ts'
import { finding, findings } from '../../src/kit/findings.ts'
import { writeMetadata } from '../../src/slack/payloads.ts'
import { mrkdwn } from '../../src/slack/text.ts'
import { fakeApp } from '../fake-app.ts'
import { ruleFor } from '../given/request.ts'

const origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: 'U0ADA00001', command: '/infra' }
const metadata = writeMetadata({ origin })

type Input = Record<string, string>
const called = (name: string) => ({ called: name, member: `the_${name}`, description: `The ${name}` })

/** A kind of change as somebody extends it: with an optional field between the two that its command names, or with a third name. */
function start(names: string[]) {
  const submitted: Input[] = []
  const app = fakeApp({
    submit: async ({ input }) => {
      submitted.push(input as Input)
      return { is: 'posted', requestId: 'r1', title: mrkdwn`Try`, channelId: origin.channelId }
    },
    errors: { shownToPerson: () => {} },
    catalog: { changesForMachines: () => [{ kind: 'vm.rename' }] as never },
    config: { policy: { bundles: new Map(), rules: [ruleFor({ changes: ['vm.rename'], machines: ['machine:ci'] })] } },
  })
  const { commands, changes, submissions, forms } = changeFeature<Input, object, string, string>({
    kind: 'vm.rename',
    change: () => ({ kind: 'vm.rename', input: { parse: (input: Input) => input }, facts: { parse: () => ({}) } }) as never,
    findings: findings({ gone: finding('{from} is gone.') }),
    form: {
      callbackId: 'try',
      title: 'Try',
      about: 'from',
      fields: { from: text({ label: 'From' }), ticket: text({ label: 'Ticket', optional: true }), to: text({ label: 'To' }) },
      filled: () => ({}),
    },
    command: { words: 'try', group: 'Change', usage: '', summary: '', examples: [] },
    read: {
      names: Object.fromEntries(names.map((name) => [name, called(name)])),
      find: async (_, given) => ({ input: given }),
      machines: { tool: 'propose_try', title: 'Try', description: '' },
    },
  }).create(app)
  const [command] = commands ?? []
  const slashCommand = { origin, answer: { elsewhere: () => {} }, deliveryKey: 'd1' }
  const shown = (view?: { blocks: object[] }) =>
    (view?.blocks ?? []).map((block) => {
      const { block_id: id, element } = block as { block_id: string; element: { initial_value?: string } }
      return element.initial_value === undefined ? id : `${id}=${element.initial_value}`
    })
  return {
    submitted,
    machines: changes?.[0]?.machines,
    isComplete: (...args: string[]) => command?.isComplete?.(args),
    type: (...args: string[]) => command?.run({ slashCommand, args } as never),
    open: async (...args: string[]) => shown(await command?.form?.(metadata, { args, command: '/infra' })),
    again: (input: Input) => shown(forms?.['vm.rename']?.filled(metadata, { input, facts: {}, reason: undefined })),
    send: (values: Input) =>
      submissions?.try?.({ metadata, origin, values, chosen: {}, ticked: {}, blocks: [], deliveryKey: 'd1' } as never),
  }
}

test('a field between the two that a command names gets none of its words, and its own text everywhere else', async () => {
  const { submitted, machines, isComplete, type, open, again, send } = start(['from', 'to'])

  expect([isComplete('a'), isComplete('a', 'b')]).toEqual([false, true])
  await type('a', 'to', 'b')
  await send({ from: 'a', ticket: 'T-1', to: 'b' })
  await send({ from: 'a', to: 'b' })
  expect(submitted).toEqual([
    { from: 'a', to: 'b' },
    { from: 'a', ticket: 'T-1', to: 'b' },
    { from: 'a', to: 'b' },
  ])
  expect(await open('a')).toEqual(['from=a', 'ticket', 'to', 'start', 'reason'])
  expect(await open('a', 'b')).toEqual(['from=a', 'ticket', 'to=b', 'start', 'reason'])
  expect(again({ from: 'a', ticket: 'T-1', to: 'b' })).toEqual(['from=a', 'ticket=T-1', 'to=b', 'start', 'reason'])
  expect(await send({ from: 'a', ticket: 'T-1', to: '' })).toMatchObject({ is: 'refused', problems: { to: { text: 'Enter the to.' } } })
  expect(await machines?.read({ the_from: 'a', the_to: 'b' }, { ...origin, userId: 'machine:ci' }, AbortSignal.timeout(1_000))).toEqual({
    from: 'a',
    to: 'b',
  })
})

test('a third name is asked of the command, the form and machines, in the order in which it is declared', async () => {
  const { submitted, machines, isComplete, type, open } = start(['from', 'ticket', 'to'])

  expect([isComplete('a', 'b'), isComplete('a', 'T-1', 'b')]).toEqual([false, true])
  await type('a', 'T-1', 'b')
  expect(submitted).toEqual([{ from: 'a', ticket: 'T-1', to: 'b' }])
  for (const wrong of [
    ['a', 'b'],
    ['a', 'T-1', 'b', 'c'],
  ])
    await expect(type(...wrong)).rejects.toThrow('/infra try &lt;from&gt; &lt;ticket&gt; &lt;to&gt;')
  expect(await open('a', 'T-1')).toEqual(['from=a', 'ticket=T-1', 'to', 'start', 'reason'])

  expect(Object.keys(machines?.members.shape ?? {})).toEqual(['the_from', 'the_ticket', 'the_to'])
  const given = { the_to: 'b', the_from: 'a', the_ticket: 'T-1' }
  expect(await machines?.read(given, { ...origin, userId: 'machine:ci' }, AbortSignal.timeout(1_000))).toEqual({
    from: 'a',
    ticket: 'T-1',
    to: 'b',
  })
  expect(machines?.members.safeParse({ the_from: 'a', the_to: 'b' }).success).toBe(false)
})
