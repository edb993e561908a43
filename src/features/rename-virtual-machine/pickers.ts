import type { PlainTextOption } from '@slack/web-api'
import type { VirtualMachine } from '../../domain/account/virtual-machine.ts'
import type { Missing } from '../../domain/errors/missing.ts'
import { type Candidate, candidatesOf, offer, placeOf, preset } from '../../slack/blocks/picker.ts'
import type { Choices } from '../../slack/commands/handlers.ts'

type Pickable = Pick<VirtualMachine, 'id' | 'name' | 'primaryIpv4' | 'project' | 'site'>

export function virtualMachineChoices(all: VirtualMachine[], typed: string, missing?: Missing): Choices {
  return offer([...candidates(all).values()], typed, missing)
}

export function virtualMachineOption(machine: Pickable): PlainTextOption | undefined {
  return preset(candidateOf(machine))
}

const candidates = candidatesOf<Pickable>(candidateOf)

/** Two virtual machines can have the same name and place, so the small print has the address and the id. */
function candidateOf({ id, name, primaryIpv4, project, site }: Pickable): Candidate {
  const place = placeOf(project, site)
  return {
    value: id,
    text: `${name ?? id}${place ? ` (${place})` : ''}`,
    description: [primaryIpv4, name === undefined ? undefined : id].filter((part) => part !== undefined).join('  ·  '),
    terms: [primaryIpv4, project?.slug],
  }
}
