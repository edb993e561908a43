import { expect, test } from 'vitest'
import { createCommandHistory } from '../sandbox/page/command-history.ts'

function start(kept = new Map<string, string>()) {
  const storage = { getItem: (key: string) => kept.get(key) ?? null, setItem: (key: string, value: string) => void kept.set(key, value) }
  return { kept, history: createCommandHistory(storage) }
}

test('the commands come back from the last to the first, and forward to an empty field', () => {
  const { history } = start()
  for (const text of ['/infra plans', 'thanks', '/infra keys', '/infra keys']) history.add(text)

  const back = [history.step(-1), history.step(-1), history.step(-1)]
  const forward = [history.step(1), history.step(1)]

  expect(back).toEqual(['/infra keys', '/infra plans', '/infra plans'])
  expect(forward).toEqual(['/infra keys', ''])
})

test('a command that was changed is no longer the recalled one', () => {
  const { history } = start()
  history.add('/infra plans')
  history.step(-1)

  expect([history.shows('/infra plans'), history.shows('/infra plans fra'), history.shows('')]).toEqual([true, false, false])
})

test('a reload keeps the commands', () => {
  const { kept, history } = start()
  history.add('/infra plans')

  expect(start(kept).history.step(-1)).toBe('/infra plans')
})
