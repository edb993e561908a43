import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { onTestFinished, vi } from 'vitest'

const clocks = { both: ['performance', 'Date'], monotonic: ['performance'], wall: ['Date'] } as const
export type Clock = keyof typeof clocks
export const everyClock = Object.keys(clocks) as Clock[]

/** Lets clocks jump when the next connection is open: the process did not run until then. The wall clock alone counts while a machine is suspended. */
export function stallAtConnect(ms: number, clock: Clock = 'both'): void {
  const onConnected = () => {
    unsubscribe('undici:client:connected', onConnected)
    for (const name of clocks[clock]) {
      const object = name === 'Date' ? Date : performance
      const now = object.now.bind(object)
      const spy = vi.spyOn(object, 'now').mockImplementation(() => now() + ms)
      onTestFinished(() => spy.mockRestore())
    }
  }
  subscribe('undici:client:connected', onConnected)
  onTestFinished(() => void unsubscribe('undici:client:connected', onConnected))
}
