import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const folder = resolve(import.meta.dirname, '../../deploy/systemd')

/** The drop-ins of an installation: one for the mode, and one for alerts. */
export const modes = ['http', 'socket-mode'] as const
export type Mode = (typeof modes)[number]

export const textOf = (file: string) => readFileSync(join(folder, file), 'utf8')
export const dropIn = (mode: string) => `lockkeeper.service.d/${mode}.conf`

/** Returns the values of a setting in the unit, the drop-in of this mode and that of alerts, in their order. */
export function valuesOf(setting: string, mode: Mode): string[] {
  const text = ['lockkeeper.service', dropIn(mode), dropIn('alerts')].map(textOf).join('\n')
  return [...text.matchAll(new RegExp(`^${setting}=(.*)$`, 'gm'))].map(([, value = '']) => value)
}

/** Returns the variables that the unit sets, with these folders in place of systemd's. */
export function environmentOf(mode: Mode, { credentials, cache }: { credentials: string; cache: string }): Record<string, string> {
  const assignments = valuesOf('Environment', mode).flatMap((value) => value.split(' '))
  return Object.fromEntries(
    assignments.map((assignment) => {
      const [name = '', ...value] = assignment.split('=')
      return [name, value.join('=').replace('%d', credentials).replace('%C', cache)]
    }),
  )
}
