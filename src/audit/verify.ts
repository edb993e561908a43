import { checkAudit } from './verification.ts'

const { exitCode, output } = await checkAudit(process.env, process.argv.slice(2))
const outlet = exitCode === 2 ? process.stderr : process.stdout
outlet.write(output)
process.exitCode = exitCode
