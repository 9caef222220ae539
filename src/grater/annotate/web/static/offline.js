// Keeps the page of an essay for a reload without a network, and the files that it needs.  The network comes first: what is
// kept here is only shown where nobody answers.  Marks are kept by the page itself.

const KEPT = "essays";
const MOST = 12; // pages and files

async function keep(request, reply) {
  const cache = await caches.open(KEPT);
  await cache.put(request, reply);
  for (const old of (await cache.keys()).slice(0, -MOST)) await cache.delete(old);
}

async function answer(event) {
  const { request } = event;
  try {
    const reply = await fetch(request);
    if (reply.ok && !reply.redirected) event.waitUntil(keep(request, reply.clone())); // nobody waits for that
    return reply;
  } catch (error) {
    const kept = await caches.match(request, { ignoreVary: true });
    if (kept) return kept;
    throw error;
  }
}

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { pathname } = new URL(request.url);
  const isPage = request.mode === "navigate" && /^\/leases\/[^/]+$/.test(pathname);
  if (request.method === "GET" && (isPage || pathname.startsWith("/static/"))) event.respondWith(answer(event));
});
