import { expect, test } from 'vitest'
import { actions, ada, button, modal, mrkdwn, ops, plain, section } from '../sandbox/slack/slack-for-test.ts'
import { actAs, composer, phone, send } from './open-browser.ts'
import { scriptedPages } from './scripted-page.ts'

const current = scriptedPages()

test('a slash opens the list of commands, for the keyboard and for the mouse', async () => {
  const { page } = current()
  await composer(page).fill('/')
  const options = page.getByRole('listbox', { name: 'Commands' }).getByRole('option')
  expect(await options.allInnerTexts()).toEqual([expect.stringContaining('/infra ip move'), expect.stringContaining('/infra ip list')])

  await composer(page).press('ArrowDown')
  await composer(page).press('Enter')
  await expect.poll(() => composer(page).inputValue()).toBe('/infra ip list ')

  await composer(page).fill('/inf')
  await options.first().click()
  await expect.poll(() => composer(page).inputValue()).toBe('/infra ip move ')
})

test('Enter sends a whole command, and the notice of Slack about a bot that does not answer is shown', async () => {
  const { page, slack, bot } = current()
  bot.answer(() => ({ hold: true }))

  await send(page, '/infra ip move')

  await page.getByRole('status').getByText('/infra failed with the error "operation_timeout"').waitFor()
  expect(slack.deliveries[0]?.payload).toMatchObject({ command: '/infra', text: 'ip move', user_id: ada })
})

test('an ephemeral message is marked, and other people do not see it', async () => {
  const { page, client } = current()
  await client.chat.postEphemeral({ channel: ops, user: ada, text: 'Only an approver can do that.' })
  await page.getByText('Only visible to you').waitFor()

  await actAs(page, 'Ben Laurent (approver)')

  await page.getByText('You are Ben').waitFor()
  expect(await page.getByText('Only an approver can do that.').count()).toBe(0)
})

test('text from outside is never markup', async () => {
  const { page, client } = current()
  const hostile = '<img src=x onerror="document.title=1"> & <b>bold</b>'
  await client.chat.postMessage({
    channel: ops,
    text: 'x',
    blocks: [
      { type: 'section', text: plain(hostile) },
      { type: 'section', text: mrkdwn(hostile.replaceAll('<', '&lt;')) },
      { type: 'header', text: plain(hostile) },
    ],
  })

  const message = page.getByRole('article').last()
  await message.getByText(hostile).nth(2).waitFor()
  expect(await message.getByText(hostile).count()).toBe(3)
  expect(await message.locator('img, b').count()).toBe(0)
})

test('the Home tab notifies the bot, follows what it publishes, and its buttons and forms work', async () => {
  const { page, slack, bot, client } = current()
  const publish = (text: string, values: string[]) => {
    const decisions = values.map((value) => ({ ...actions(button({ text: plain('Approve'), value })), block_id: value }))
    return client.views.publish({
      user_id: ada,
      view: { type: 'home', blocks: [{ type: 'header', text: plain(text) }, ...decisions] } as never,
    })
  }
  bot.answer(async (payload) => {
    if (payload.type === 'event_callback') await publish('Waits for you (2)', ['r1', 'r2'])
    if (payload.type === 'block_actions') await client.views.open({ trigger_id: String(payload.trigger_id), view: modal('A form') })
    return {}
  })

  await page.getByRole('button', { name: 'Lockkeeper' }).click()
  const home = page.getByRole('region', { name: 'Home' })
  await home.getByText('Waits for you (2)').waitFor()
  await home.getByRole('button', { name: 'Approve' }).last().click()
  await page.getByRole('dialog', { name: 'A form' }).getByRole('button', { name: 'Cancel' }).click()
  await publish('Waits for you (0)', [])

  await home.getByText('Waits for you (0)').waitFor()
  const click = slack.deliveries.find(({ kind }) => kind === 'block_actions')?.payload
  expect(click).toMatchObject({ view: { type: 'home' }, container: { type: 'view' }, actions: [{ value: 'r2' }] })
  expect(click).not.toHaveProperty('channel')
  expect(await home.getByRole('button').count()).toBe(0)
  await page.reload()
  await home.getByText('Waits for you (2)').waitFor()
})

test('the direct messages of the app are beside its Home tab, unread until they are opened', async () => {
  const { page, client } = current()
  await client.chat.postMessage({ channel: ada, text: 'Nobody could be mentioned in the channel.' })
  const app = page.getByRole('navigation', { name: 'Workspace' }).getByRole('button', { name: 'Lockkeeper' })
  await expect.poll(() => app.innerText()).toContain('unread')

  await app.click()
  await page.getByText('Lockkeeper has not shown anything here.').waitFor()
  await page.getByRole('button', { name: /Messages.*unread/ }).click()

  await page.getByRole('log').getByText('Nobody could be mentioned in the channel.').waitFor()
  await expect.poll(() => app.innerText()).not.toContain('unread')
  expect(await composer(page).count()).toBe(0)
  await actAs(page, 'Ben Laurent (approver)')
  await expect.poll(() => page.getByRole('log').getByText('Nobody could be mentioned in the channel.').count()).toBe(0)
  await page.getByRole('button', { name: 'ops', exact: true }).click()
  await composer(page).waitFor()
})

test('a link to a message of the workspace opens it on the page', async () => {
  const { page, client } = current()
  const { ts = '' } = await client.chat.postMessage({ channel: ops, text: 'The card' })
  const link = `https://nimbus-works.slack.com/archives/${ops}/p${ts.replace('.', '')}`
  await client.views.publish({
    user_id: ada,
    view: { type: 'home', blocks: [{ type: 'section', text: mrkdwn(`<${link}|Open the card>`) }] },
  })
  await page.getByRole('button', { name: 'general' }).click()
  await page.getByRole('button', { name: 'Lockkeeper' }).click()

  await page.getByRole('link', { name: 'Open the card' }).click()

  await page.getByRole('heading', { name: 'ops', level: 1 }).waitFor()
  await page.locator('.is-pointed-at').getByText('The card').waitFor()
  expect(page.context().pages()).toHaveLength(1)
})

test('a reply that was also sent to the channel is shown in both places', async () => {
  const { page, client } = current()
  const { ts = '' } = await client.chat.postMessage({ channel: ops, text: 'A request' })
  await client.chat.postMessage({ channel: ops, text: 'Approved without a second person', thread_ts: ts, reply_broadcast: true })
  const said = page.getByRole('article').getByText('Approved without a second person')

  await page.getByRole('article').filter({ hasText: 'replied to a thread' }).getByRole('button', { name: 'thread', exact: true }).click()

  await page.getByRole('complementary', { name: 'Thread' }).getByText('Also sent to #ops').waitFor()
  expect(await said.count()).toBe(2)
})

test('from 360 pixels on, nothing is wider than the window', async () => {
  const { page, client } = current()
  await page.setViewportSize({ width: 360, height: 700 })
  await client.chat.postMessage({ channel: ops, text: `${'long'.repeat(60)} \`${'code'.repeat(40)}\`` })
  await page.getByText('longlong').waitFor()

  const widths = await page.evaluate(() =>
    [document.documentElement, ...document.querySelectorAll('.messages, .composer-area, .top-bar')].map((box) => box.scrollWidth),
  )

  expect(Math.max(...widths)).toBeLessThanOrEqual(360)
  await page.getByRole('button', { name: 'Channels and people' }).click()
  await page.getByRole('navigation', { name: 'Workspace' }).getByRole('button', { name: 'general' }).click()
  await page.getByRole('heading', { name: 'general', level: 1 }).waitFor()
})

test.each([360, 1440])('the usage of a command is beside or above Send, never below it: %i pixels', async (width) => {
  const { page } = current()
  await page.setViewportSize({ width, height: 700 })

  await composer(page).fill('/infra ip move 203.0.113.10')

  const usage = await page.getByText('/infra ip move [<elastic ip> <server>]').boundingBox()
  const sendButton = await page.getByRole('button', { name: 'Send' }).boundingBox()
  if (!usage || !sendButton) throw new Error('Nothing is shown.')
  expect(usage.x + usage.width).toBeLessThanOrEqual(width)
  expect(usage.x + usage.width <= sendButton.x || usage.y + usage.height <= sendButton.y).toBe(true)
})

test('on a phone a notification covers neither the message and its buttons, nor the thread, nor the bars', async () => {
  const { page, client } = current()
  await page.setViewportSize(phone)
  const { ts = '' } = await client.chat.postMessage({ channel: ops, text: 'x'.repeat(20).concat('\n').repeat(30) })
  await client.chat.postMessage({ channel: ops, thread_ts: ts, text: 'Done.' })
  await client.chat.postMessage({
    channel: ops,
    text: 'x',
    blocks: [section({ text: mrkdwn('Line\n'.repeat(18)) }), actions(button({ text: plain('Approve') }))] as never,
  })
  const approve = page.getByRole('button', { name: 'Approve', exact: true })
  const placeOfApprove = async () => (await approve.boundingBox())?.y
  await approve.waitFor()
  await expect.poll(() => page.getByRole('button', { name: 'To the newest' }).count()).toBe(0)
  const before = await placeOfApprove()

  await client.chat.postMessage({ channel: ops, thread_ts: ts, text: `<@${ada}>, approved. Create your key by 6:12 AM.` })
  const toast = page.getByRole('status', { name: 'Phones' }).getByText('Create your key')
  await toast.waitFor()

  await expect.poll(() => page.evaluate(coveredByToast)).toEqual([])
  expect(Math.abs(Number(await placeOfApprove()) - Number(before))).toBeLessThan(2)
  await page.getByRole('button', { name: /2 replies/ }).click()
  await page.getByRole('complementary', { name: 'Thread' }).getByText('Create your key').waitFor()
  expect(await toast.isVisible()).toBe(true)
  expect(await page.evaluate(coveredByToast)).toEqual([])
})

/** Runs inside the page. Returns the boxes that a notification lies on, of those that people read and press. */
function coveredByToast(): string[] {
  const toast = document.querySelector('.toast')?.getBoundingClientRect()
  if (!toast) return ['There is no notification.']
  const boxes = [...document.querySelectorAll('.top-bar, .channel-head, .hint, .messages, .composer-area, .thread')]
  return boxes
    .filter((box) => box.getBoundingClientRect().top < toast.bottom && box.getBoundingClientRect().bottom > toast.top)
    .map((box) => box.className)
}

test('what the page shows above everything else is dark in dark mode, too', async () => {
  const { page, client, bot } = current()
  bot.answer(() => ({ hold: true }))
  await page.emulateMedia({ colorScheme: 'dark' })
  await client.chat.postMessage({ channel: ops, text: `<@${ada}>, approved.` })
  await page.locator('.toast').waitFor()
  await send(page, '/infra ip move')
  await page.locator('.notice').waitFor()

  const brightness = await page
    .locator('.toast, .notice')
    .evaluateAll((all) =>
      all.map((each) => Math.max(...(getComputedStyle(each).backgroundColor.match(/\d+/g) ?? []).slice(0, 3).map(Number))),
    )

  expect(brightness).toHaveLength(2)
  expect(Math.max(...brightness)).toBeLessThan(100)
})

test('a message that is higher than the window is shown from its beginning, and a short one after it to its end', async () => {
  const { page, client } = current()
  await page.setViewportSize(phone)
  const lines = Array.from({ length: 60 }, (_, index) => `Line ${index + 1}.`).join('\n')
  const isInSight = (words: string) =>
    page.getByText(words).evaluate((shown) => {
      const [text, box] = [shown.getBoundingClientRect(), document.querySelector('.messages')?.getBoundingClientRect()]
      return box !== undefined && text.top >= box.top && text.bottom <= box.bottom
    })

  await client.chat.postMessage({
    channel: ops,
    text: 'x',
    blocks: [{ type: 'header', text: plain('All checks passed') }, section({ text: mrkdwn(lines) })],
  })
  await expect.poll(() => isInSight('All checks passed')).toBe(true)
  expect(await page.getByRole('button', { name: 'To the newest' }).count()).toBe(0)

  await client.chat.postMessage({ channel: ops, text: 'And that is all.' })
  await expect.poll(() => isInSight('And that is all.')).toBe(true)
})
