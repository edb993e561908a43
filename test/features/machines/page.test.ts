import { expect, test } from 'vitest'
import { commandBlocks } from '../../docs/command-blocks.ts'
import { patchesOf, untilCard } from '../../journeys/world.ts'
import { startMachineWorld, token } from './machines-world.ts'
import { filesOfPage as files, readWorkflow, runRecipe as run, startFailingProxy } from './page-for-test.ts'

const curls = commandBlocks('docs/machines.md').flatMap(({ commands }) => (commands.startsWith('curl') ? [commands] : []))

test('the lines with curl, under the policy of the page', async () => {
  const world = await startMachineWorld({}, files.get('policy.yml'))
  const env = { LOCKKEEPER: world.urlOf(), TOKEN: token }
  const [request = '', wait = '', withdraw = '', lists = '', ...others] = curls
  expect(others).toEqual([])

  const made = JSON.parse(await run(request, env))
  expect(made).toMatchObject({ change: 'ip.move', state: 'waiting', subject: '203.0.113.10' })
  expect(JSON.parse(await run(request, env)).id).toBe(made.id)
  const card = await untilCard(world.slack, /ci \(machine\) needs approval from <!subteam\^S0ONCALL01>/)
  const waited = run(wait, { ...env, ID: made.id })
  await world.ben.click(card, 'Approve')
  expect(JSON.parse(await waited).state).not.toBe('waiting')
  await expect.poll(() => patchesOf(world).length).toBe(1)
  expect(JSON.parse(await run(withdraw, { ...env, ID: made.id })).code).toBe('too-late')
  const answers = (await run(lists.trimEnd().replaceAll(/$/gm, '; echo'), env))
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
  expect(answers.slice(0, 4).every(({ items, code }) => Array.isArray(items) || code === 'account-limit')).toBe(true)
  expect(answers[4]).toMatchObject({ openapi: '3.1.0', paths: { '/v1/requests': { post: { operationId: 'request_change' } } } })
})

test('the workflow of deploy/machines, through a proxy that loses an answer', async () => {
  const world = await startMachineWorld({}, files.get('policy.yml'))
  const proxy = await startFailingProxy(world.urlOf, ['html-502', 'lost-answer'])
  const { lines, env } = await readWorkflow(proxy.url)
  const running = run(lines, env)
  await world.ben.click(await untilCard(world.slack, /Failover/), 'Approve')

  expect(await running).toMatch(/^Done\.[^\n<]*\n$/)
  expect(await world.records.all()).toHaveLength(1)
})
