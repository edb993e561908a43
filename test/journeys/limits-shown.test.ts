import { expect, test } from 'vitest'
import { forgetLists, ops, people, startWorld, untilShown } from './world.ts'

async function accountCheck(bot: { opsPort: number } | undefined): Promise<unknown> {
  const page = await fetch(`http://127.0.0.1:${bot?.opsPort}/status`)
  return ((await page.json()) as { checks: { accountApi: unknown } }).checks.accountApi
}

test('when the reads are spent, the doctor and the status page name the limit, and the log the person who reads in unusual number', async () => {
  const world = await startWorld({ env: { INFRA_READS_PER_MINUTE: '10' } })
  await world.ben.command('/infra keys', { channel: ops })
  await world.slack.until(() => world.slack.ephemerals(people.ben)[0])
  for (const words of ['plans', 'vms', 'baselines', 'ip list']) await world.ada.command(`/infra ${words}`, { channel: ops })
  await expect
    .poll(() => world.log.filter((line) => line.includes('"reads-share-spent"')).map((line) => JSON.parse(line)))
    .toMatchObject([{ userId: people.ada, reads: 3, level: 'warn' }])
  await untilShown(world.slack, people.ada, /^You've used your 3 of the account's 10 reads a minute\. Try again in \d/)
  for (const person of [people.chiara, people.chiara, people.chiara, people.ben, people.ben]) {
    await forgetLists(world)
    const before = world.slack.ephemerals(person).length
    await world.slack.as(person).command('/infra keys', { channel: ops })
    await world.slack.until(() => world.slack.ephemerals(person).length > before)
  }

  await world.ben.command('/infra doctor', { channel: ops })
  const { text } = await untilShown(world.slack, people.ben, /checks? (passed|failed)|No check failed/i)
  expect(text).toMatch(
    /:grey_question: \*Account API:\* Not checked, because of the limit\. The account allows 10 reads a minute\. Run this command again in \d/,
  )
  expect(text).toMatch(/\*Limits:\* The account allows 10 reads and 99999 changes a minute\. Last minute: \d+ reads?, 0 changes\./)
  expect(await accountCheck(world.bots[0])).toEqual({ ok: true, note: 'Not checked in the last 10\u00a0min' })
})
