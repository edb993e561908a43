import { existsSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { type Ablation, type AblationName, ablations } from './ablations.ts'

/**
 * Preloaded into a bot (`node --import`). Replaces the module that the ablation names: imports of it get the same exports, except for the
 * one that the ablation wraps. Ends the process if that export does not exist.
 */
const name = process.env.ABLATION as AblationName
const ablation: Ablation | undefined = ablations[name]
if (!ablation) throw new Error(`There is no ablation "${name}".`)

const isFile = ablation.module.startsWith('src/')
const real = isFile ? new URL(`../../${ablation.module}`, import.meta.url).href : import.meta.resolve(ablation.module)
if (!existsSync(fileURLToPath(real))) throw new Error(`The ablation "${name}" no longer finds the module ${ablation.module}.`)

const instead = 'ablated:module'
const source = `
import * as real from ${JSON.stringify(real)}
import { ablated } from ${JSON.stringify(new URL('./ablations.ts', import.meta.url).href)}
export * from ${JSON.stringify(real)}
const wrapped = ablated(${JSON.stringify(name)}, real)
export { wrapped as ${ablation.export} }
`

registerHooks({
  resolve(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context)
    return resolved.url === real && context.parentURL !== instead ? { url: instead, shortCircuit: true } : resolved
  },
  load(url, context, nextLoad) {
    return url === instead ? { format: 'module', source, shortCircuit: true } : nextLoad(url, context)
  },
})
