import { bundles, changeKinds } from '../../src/features/index.ts'

/** All kinds of change, and an evacuation, which is many moves. */
export const evacuationKinds = {
  kinds: [...new Set([...changeKinds, 'ip.evacuate'])],
  bundles: new Map([...bundles, ['ip.evacuate', 'ip.move']]),
}
