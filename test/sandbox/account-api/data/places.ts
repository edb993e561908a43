import { idOf } from './ids.ts'
import type { Project, Site } from './model.ts'

export const projects: Project[] = [
  { id: idOf('proj', 'storefront'), name: 'Storefront', slug: 'storefront' },
  { id: idOf('proj', 'data-platform'), name: 'Data platform', slug: 'data-platform' },
  { id: idOf('proj', 'internal-tools'), name: 'Internal tools', slug: 'internal-tools' },
]

export const sites: Site[] = [
  site('ASH', 'Ashburn', 'United States'),
  site('DAL', 'Dallas', 'United States'),
  site('FRA', 'Frankfurt', 'Germany'),
  site('TYO', 'Tokyo', 'Japan'),
  { ...site('SAO', 'São Paulo', 'Brazil'), elasticIps: false },
]

export function projectId(slug: string): string {
  return idOf('proj', slug)
}

function site(slug: string, city: string, country: string): Site {
  return {
    slug,
    onElasticIps: { id: `site_${slug.toLowerCase()}`, name: city },
    onServers: { id: idOf('loc', slug), name: `${city} 74` },
    region: { id: idOf('reg', country), name: country },
    elasticIps: true,
  }
}
