# A separate stage installs the packages, so npm's cache and configuration are not in the image.
FROM node:24-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts

FROM node:24-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6
ARG VERSION=dev
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Lockkeeper" \
  org.opencontainers.image.description="A Slack bot with which a team operates its infrastructure account" \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}"

# With malloc's default number of arenas and its growing thresholds, the process keeps much of the memory that it has freed.
ENV NODE_ENV=production NODE_COMPILE_CACHE=/app/.compile-cache MALLOC_ARENA_MAX=2 MALLOC_TRIM_THRESHOLD_=131072
WORKDIR /app
# The security release of October 21, 2026. An image that is pinned by its digest does not follow it by itself.
RUN printf '24.22.1\n%s\n' "$(node --print process.versions.node)" | sort --check=quiet --version-sort \
  || { echo "The base image has Node $(node --version), without the security release 24.22.1. Pin a newer digest of node:24-slim." >&2; exit 1; }
# Nothing is installed at run time, so the image needs no package managers. The process can write only to its cache, and only in this folder.
RUN rm -rf /usr/local/lib/node_modules /opt/yarn* \
  && rm -f /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn /usr/local/bin/yarnpkg \
  && install -d -o 1000 -g 1000 .compile-cache
COPY --from=packages /app/node_modules ./node_modules
COPY package.json ./
COPY src ./src
# The user "node" as a number, because Kubernetes cannot tell from a name that it is not root.
USER 1000:1000

# Node runs the TypeScript as it is. Loading all of it once fills the compile cache. That saves about 40 % of the time to start and, if no
# file is missing in it, 30 MB of memory. Without a configuration the program prints what is missing, and exits.
RUN node src/main.ts 2>&1 | grep '^SLACK_BOT_TOKEN '

# A container's address is private, so only health checks and monitors reach the operations port, unless you publish it.
ENV OPS_HOST=0.0.0.0
EXPOSE 3000
STOPSIGNAL SIGTERM
# /healthz and not /readyz: a bot that waits for Slack tracks moves meanwhile, and replacing it would not bring Slack back.
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "--eval", "fetch('http://127.0.0.1:' + (process.env.OPS_PORT || 9464) + '/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]

# A core dump would contain every secret. This limit applies inside the container, whatever the host allows.
ENTRYPOINT ["sh", "-c", "ulimit -c 0 && exec \"$@\"", "--"]

# Without --disable-sigusr1, SIGUSR1 opens a debugger. Without --report-exclude-env, a diagnostic report contains the environment with its
# secrets. A small young generation halves the memory under load. The old generation ends below the limit of 512 MB that a container gets, so
# that V8 collects before the kernel kills the process.
CMD ["node", "--report-exclude-env", "--disable-sigusr1", "--max-semi-space-size=4", "--max-old-space-size=384", "src/main.ts"]
