import { createCatalog } from '../../src/record/catalog.ts'
import { unconnectedFeatures } from '../sandbox/features.ts'

/** The bot's kinds of change, for tests that need only their names and words. */
export const catalog = createCatalog(unconnectedFeatures().flatMap(({ changes = [] }) => changes))
