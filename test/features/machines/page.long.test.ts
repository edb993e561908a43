import { expect, test } from 'vitest'
import { lintWorkflow } from '../../../scripts/lint-workflows.ts'
import { untilCard } from '../../journeys/world.ts'
import { startMachineWorld } from './machines-world.ts'
import { filesOfPage as files, readWorkflow, runRecipe as run, startFailingProxy } from './page-for-test.ts'

test('the workflow of deploy/machines, through a proxy that fails in each way at each step', async () => {
  const world = await startMachineWorld({}, files.get('policy.yml'))
  const proxy = await startFailingProxy(world.urlOf)
  const { workflow, lines, env } = await readWorkflow(proxy.url)
  const running = run(lines, env)
  await expect.poll(() => proxy.left, { timeout: 30_000 }).toEqual({ GET: [], POST: [] })
  await world.ben.click(await untilCard(world.slack, /Failover/), 'Approve')

  // Nothing of what failed is printed.
  expect(await running).toMatch(/^Done\.[^\n<]*\n$/)
  expect(await world.records.all()).toHaveLength(1)
  await world.records.redis.del(world.records.keys.machineCalls('machine:ci'))
  const refused = run(lines, { ...env, KEY: '2' })
  await expect(refused).rejects.toMatchObject({
    stdout: expect.stringMatching(/^Not requested: 203\.0\.113\.10 is already on web-2\.[^\n]*\n$/),
  })
  const away = run(lines, { ...env, LOCKKEEPER: 'http://127.0.0.1:9', PAUSE: '0' })
  await expect(away).rejects.toMatchObject({ stdout: expect.stringMatching(/^No answer \(last status: 000\)\./) })
  expect(await lintWorkflow('failover.yml', workflow)).toEqual([])
})
