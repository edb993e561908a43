import { checkAudit } from './check.ts'

const { exit, said } = await checkAudit(process.env, process.argv.slice(2))
const outlet = exit === 2 ? process.stderr : process.stdout
outlet.write(said)
process.exitCode = exit
