import type { Ability } from '../../kit/ability.ts'
import { createMachineReceiver } from './receiver.ts'

/** Answers machines on a port of its own, over HTTP and MCP. */
export const answerMachines: Ability = {
  ports: { machinesPort: (app) => app.config.machines && createMachineReceiver(app, app.config.machines) },
  create: () => ({ commands: [] }),
}
