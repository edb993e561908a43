import { createCatalog } from '../../src/requests/catalog.ts'
import { unconnectedFeatures } from '../sandbox/features.ts'

/** The kinds of change that the bot has, for what needs only their names and words. */
export const catalog = createCatalog(unconnectedFeatures().flatMap(({ changes = [] }) => changes))
