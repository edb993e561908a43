import type { Ability } from '../../kit/ability.ts'
import { createMachineReceiver } from './receiver.ts'

/** Answers machines on a port of its own, over HTTP and MCP. */
export const answerMachines: Ability = {
  ports: (app) => (app.config.machines ? [{ name: 'machinesPort', ...createMachineReceiver(app, app.config.machines) }] : []),
  create: () => ({ commands: [] }),
}
