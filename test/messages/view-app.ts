import { moveChange } from '../../src/features/moves/move-change.ts'
import { createCatalog } from '../../src/record/catalog.ts'
import { noPolicy } from '../fake-app.ts'
import { ruleFor } from '../given/request.ts'

/** What an App needs to show requests to move an address: their records are genuine, and one rule is for all. */
export const forViews = {
  catalog: createCatalog([moveChange({} as never)]),
  signatures: { verifyRecord: () => 'genuine' as const },
  config: { policy: { ...noPolicy, rules: [ruleFor()] }, environment: undefined, infra: { writesPerMinute: 20 } },
  identity: { profileOf: () => undefined, addressOf: () => undefined, linkTo: () => undefined },
}
