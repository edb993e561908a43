import { registerHooks } from 'node:module'
import { type AblationName, ablations } from './ablations.ts'

/** Preloaded into a bot (`node --import`): changes one of its files as it is loaded. Ends the process where the text is not there any more. */
const name = process.env.ABLATION as AblationName
const { file, instead } = ablations[name]
const [from, to] = instead

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    if (!url.endsWith(`/${file}`)) return loaded
    const source = String(loaded.source)
    if (!source.includes(from)) {
      process.stderr.write(`the ablation "${name}" finds nothing to change in ${file}\n`)
      process.exit(3)
    }
    return { ...loaded, source: source.replace(from, () => to) }
  },
})
