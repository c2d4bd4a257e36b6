// Execution nodes, workers, and the members of a cluster.

import { html, nothing } from 'lit';
import { change, get, segment } from './http.js';
import { count, millis, moment } from './format.js';
import {
  ACTIONS, View, attempt, brief, button, commandLine, define, empty, facts, head, link, quoted, status, table, time,
  wholeList,
} from './view.js';

class Nodes extends View {
  async load() {
    return { nodes: await get('dci/nodes') };
  }

  content() {
    return html`
      ${head('Execution nodes')}
      ${wholeList(
        this,
        [
          { title: 'Node', value: node => html`<strong>${node.node}</strong>` },
          { title: 'State', value: node => status(node.state) },
          { title: 'Host', value: node => node.host ?? html`<span class="calm">–</span>` },
          { title: 'Plugins', kind: 'wide', value: node => brief((node.plugins ?? []).join(', ')) },
          {
            title: 'Most tasks at a time', kind: 'number',
            value: node => html`<input
              class="cell" type="number" min="0" placeholder="no limit" aria-label="Most tasks at a time on ${node.node}"
              .value=${String(node.maxthreads ?? '')} @change=${event => this.#limit(node, event.target.value)}>`,
          },
          { title: 'Last sign', value: node => time(node.timestamp) },
          {
            title: ACTIONS, kind: 'buttons',
            value: node => html`
              ${link(['tasks'], 'Tasks', { node: node.node })}
              ${button('Remove', () => this.#remove(node), { shown: node.state !== 'alive' })}`,
          },
        ],
        this.data.nodes,
        {
          texts: node => [node.node, node.host, ...(node.plugins ?? [])],
          state: node => node.state,
          orders: { 'last sign': node => millis(node.timestamp), 'most tasks': node => node.maxthreads },
          caption: 'Execution nodes',
          none: empty('No execution nodes', 'A node claims tasks of queues and runs them.', './millrace node --server URL'),
        },
      )}
      ${commandLine('./millrace nodes list')}
    `;
  }

  async #limit(node, text) {
    const set = value => () => change('POST', `dci/nodes/${segment(node.node)}`, { maxthreads: value });
    await attempt(
      set(text === '' ? null : Number(text)),
      text === '' ? `${node.node} has no limit` : `${node.node} runs up to ${text} tasks`,
      set(node.maxthreads ?? null));
    this.reload();
  }

  async #remove(node) {
    await attempt(() => change('DELETE', `dci/nodes/${segment(node.node)}`), `${node.node} is removed`);
    this.reload();
  }
}

const workerJobs = worker =>
  html`${worker.jobs.slice(0, 5).map((job, index) => html`${index ? ', ' : ''}${link(['jobs', job], html`<code>${job.slice(0, 13)}</code>`)}`)}${worker.jobs.length > 5 ? html` and ${worker.jobs.length - 5} more` : nothing}`;

class Workers extends View {
  async load() {
    return { workers: await get('api/workers') };
  }

  content() {
    return html`
      ${head('Workers')}
      ${wholeList(
        this,
        [
          { title: 'Worker', value: worker => link(['workers', worker.id], worker.name) },
          { title: 'State', value: worker => status(worker.state) },
          { title: 'Type', value: worker => worker.type ?? html`<span class="calm">–</span>` },
          { title: 'Jobs now', value: workerJobs },
          { title: 'Succeeded', kind: 'number', value: worker => count(worker.succeeded) },
          { title: 'Failed', kind: 'number', value: worker => count(worker.failed) },
          { title: 'Connected', value: worker => time(worker.connected) },
          { title: 'Last sign', value: worker => time(worker.lastSeen) },
        ],
        this.data.workers,
        {
          texts: worker => [worker.name, worker.id, worker.type],
          state: worker => worker.state,
          orders: {
            'last sign': worker => millis(worker.lastSeen), 'connected last': worker => millis(worker.connected),
            'most jobs now': worker => worker.jobs.length, 'most failures': worker => worker.failed,
          },
          caption: 'Workers',
          none: empty('No workers yet', 'A worker gets jobs over a WebSocket and answers with results.', './millrace worker --name press -- ./work.sh'),
        },
      )}
      ${commandLine('./millrace workers')}
    `;
  }
}

class Worker extends View {
  async load() {
    const worker = await get(`api/workers/${segment(this.route.path[1])}`);
    const jobs = await Promise.all(worker.jobs.slice(0, 50).map(job => get(`api/jobs/${job}`).catch(() => null)));
    return { worker, jobs: jobs.filter(Boolean) };
  }

  content() {
    const { worker, jobs } = this.data;
    return html`
      ${head(worker.name, { above: [[['workers'], 'Workers']], note: status(worker.state) })}
      ${facts([
        ['Id', html`<code>${worker.id}</code>`],
        ['Type', worker.type],
        ['Connected', moment(worker.connected)],
        ['Last sign', time(worker.lastSeen)],
        ['Succeeded', count(worker.succeeded)],
        ['Failed', count(worker.failed)],
      ])}
      <h2>Jobs now</h2>
      ${table(
        [
          { title: 'Job', value: job => link(['jobs', job.id], job.display ?? job.key) },
          { title: 'Started', value: job => time(job.started) },
          {
            title: 'Progress', kind: 'wide',
            value: job => job.progress
              ? html`${job.progress.percent === null ? nothing : html`<progress max="100" value=${job.progress.percent} aria-label="Progress"></progress> ${Math.round(job.progress.percent)} % `}<span class="calm">${job.progress.info ?? ''}</span>`
              : html`<span class="calm">none told</span>`,
          },
        ],
        jobs,
        { none: html`<p class="calm">It has no job.</p>` },
      )}
      <p>${link(['jobs'], 'All jobs that it has or had last', { worker: worker.id })}</p>
      ${commandLine(`./millrace workers ${quoted(worker.id)}`)}
    `;
  }
}

/** Who has a lock or partition, and until when. */
const holding = [
  { title: 'Held by', value: lock => lock.holder ?? html`<span class="calm">nobody</span>` },
  { title: 'Until', value: lock => time(lock.expire) },
  { title: 'Fence', kind: 'number', value: lock => lock.fence },
];
const holdingOrders = { 'ends last': lock => millis(lock.expire), 'highest fence': lock => lock.fence };

/** Locks that a program has asked for, without those by which members elect a leader and are known. */
export const namedLocks = locks => locks.filter(lock => !/^(leader$|member\/)/.test(lock.id));

class Cluster extends View {
  async load() {
    this.follow('cluster/events');
    const [cluster, locks] = await Promise.all([get('cluster'), get('cluster/locks')]);
    return { cluster, locks: namedLocks(locks) };
  }

  content() {
    const { cluster, locks } = this.data;
    if (!cluster.leader && !cluster.members.length && !locks.length) {
      return html`${head('Cluster')}${empty('No members', 'Programs that use the cluster library, and members on the command line, elect a leader and share work here.', './millrace member --help')}`;
    }
    return html`
      ${head('Cluster', { note: cluster.leader ? html`led by <strong>${cluster.leader}</strong>` : status('no leader') })}
      ${facts([['Leader until', cluster.leaderExpires && time(cluster.leaderExpires)], ['Fencing token', cluster.fence]])}
      <h2>Members <span class="count">${cluster.members.length}</span></h2>
      ${table(
        [
          { title: 'Member', value: member => html`${member.token} ${member.token === cluster.leader ? status('leader') : nothing}` },
          { title: 'Workers', kind: 'number', value: member => count(member.workers) },
          {
            title: 'Report', kind: 'wide',
            value: member => {
              const report = cluster.status.find(one => one.token === member.token);
              return report ? brief(report.text ?? report.values) : html`<span class="calm">–</span>`;
            },
          },
        ],
        cluster.members,
        { caption: 'Members' })}
      <h2>Partitions <span class="count">${cluster.partitions.length}</span></h2>
      ${wholeList(
        this,
        [
          { title: 'Partition', value: partition => html`<code>${partition.id}</code>` },
          { title: 'State', value: partition => status(partition.state) },
          ...holding,
        ],
        cluster.partitions,
        {
          of: 'partitions',
          texts: partition => [partition.id, partition.holder],
          state: partition => partition.state,
          orders: holdingOrders,
          caption: 'Partitions',
          none: html`<p class="calm">There is no divided work.</p>`,
        })}
      <h2>Locks and permits <span class="count">${locks.length}</span></h2>
      ${wholeList(
        this,
        [{ title: 'Lock', value: lock => html`<code>${lock.id}</code>` }, ...holding],
        locks,
        {
          of: 'locks',
          texts: lock => [lock.id, lock.holder],
          state: lock => (lock.holder ? 'held' : 'free'),
          orders: holdingOrders,
          caption: 'Locks',
          none: html`<p class="calm">There are no locks.</p>`,
        })}
      ${commandLine('./millrace cluster status')}
    `;
  }
}

define('millrace-nodes', Nodes);
define('millrace-workers', Workers);
define('millrace-worker', Worker);
define('millrace-cluster', Cluster);
