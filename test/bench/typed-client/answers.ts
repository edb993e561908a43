import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { plan as planIn, elasticIp as sample } from '../../account-api/wire-samples.ts'

/**
 * An account API that has its answers ready: 1,000 Elastic IPs, of which a page has 100, and 500 plans, each with every field that the
 * interface specification shows. The answers are made once, so that the time of this process is hardly any.
 */
const pages = Array.from({ length: 10 }, (_, page) => Array.from({ length: 100 }, (__, index) => elasticIp(page * 100 + index)))
const plans = Array.from({ length: 500 }, (_, index) => plan(index))
const text = (data: unknown[]) => Buffer.from(JSON.stringify({ data, meta: {} }))
const answers = { pages: pages.map(text), empty: text([]), plans: text(plans) }

function elasticIp(index: number) {
  const address = `203.0.${Math.floor(index / 250)}.${(index % 250) + 1}`
  return { ...sample, id: `eip_${String(index).padStart(10, '0')}`, attributes: { ...sample.attributes, address } }
}

function plan(index: number) {
  const [region] = planIn.attributes.regions
  const regions = ['United States', 'Germany', 'Japan', 'Brazil'].map((name) => ({ ...region, name }))
  const systems = ['ubuntu_24_04_x64_lts', 'ubuntu_22_04_x64_lts', 'debian_12', 'rocky_9', 'almalinux_9', 'flatcar_stable']
  const attributes = { ...planIn.attributes, name: `vm.${index}`, regions, available_operating_systems: systems }
  return { ...planIn, id: `plan_${String(index).padStart(10, '0')}`, attributes }
}

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://answers')
  const page = answers.pages[Number(searchParams.get('page[number]')) - 1] ?? answers.empty
  const body = pathname === '/plans/virtual_machines' ? answers.plans : page
  response.writeHead(200, { 'content-type': 'application/vnd.api+json', 'content-length': body.length }).end(body)
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  const kb = { page: answers.pages[0]?.length, plans: answers.plans.length }
  console.log(JSON.stringify({ port, ...kb }))
})
