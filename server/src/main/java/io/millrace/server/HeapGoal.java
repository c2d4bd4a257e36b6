package io.millrace.server;

import com.sun.management.GarbageCollectionNotificationInfo;
import com.sun.management.GcInfo;
import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.VMOption;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.time.Duration;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.NotificationFilter;
import javax.management.openmbean.CompositeData;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps this process's heap near the size of what lives in it. A collector that may use a quarter
 * of the machine does so before it collects, and memory touched for the first time costs the
 * kernel, and on a virtual machine its host, more than collecting does. The goal is soft: what
 * lives has room beyond it, up to {@code -Xmx}. It is the flag {@code SoftMaxHeapSize}, which some
 * collectors respect; an explicit flag takes precedence.
 *
 * <p>The goal is three times what lives, at least {@link #LEAST_BYTES}. It grows by a half whenever
 * the collector has been at work for more than a quarter of the time since the last collection. It
 * is lowered only after a minute in which no collection needed as much, and by a third at most: the
 * JVM gives memory back then, and touching it again has its price.
 */
public final class HeapGoal {
  /** The goal of a process with little live data: 1 GiB. */
  public static final long LEAST_BYTES = 1L << 30;

  private static final Logger LOG = LoggerFactory.getLogger(HeapGoal.class);
  private static final String FLAG = "SoftMaxHeapSize";

  /** The goal as a multiple of the live data. */
  private static final int TIMES = 3;

  /** The goal grows if the collector is at work for more than one out of so many milliseconds. */
  private static final int BUSY = 4;

  /** The goal may be lowered if the collector is at work for less than that. */
  private static final int IDLE = 8;

  /** How long no collection may need as much before the goal is lowered. */
  private static final Duration UNTIL_LOWERED = Duration.ofMinutes(1);

  private final long maxBytes;
  private long bytes;
  private long lastEndMillis;

  /** The most that any collection has needed since {@link #sinceMillis}. */
  private long neededBytes;

  private long sinceMillis;

  /**
   * A goal for a heap that holds little.
   *
   * @param maxBytes the largest heap
   * @param nowMillis the time since the start of the process
   */
  HeapGoal(long maxBytes, long nowMillis) {
    this.maxBytes = maxBytes;
    this.bytes = clamp(0);
    this.lastEndMillis = nowMillis;
    this.sinceMillis = nowMillis;
  }

  /**
   * Sets the goal now, and again after each collection, as long as the process lives. Does nothing
   * on a JVM without such a flag, and if the flag was given.
   */
  public static void keep() {
    HotSpotDiagnosticMXBean machine =
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
    try {
      VMOption option = machine.getVMOption(FLAG);
      // The JVM derives it from -Xmx unless it is given, and reports it as its own choice then.
      if (!option.isWriteable()
          || (option.getOrigin() != VMOption.Origin.DEFAULT
              && option.getOrigin() != VMOption.Origin.ERGONOMIC)) {
        return;
      }
    } catch (IllegalArgumentException e) {
      LOG.debug("this JVM has no goal for its heap", e);
      return;
    }
    long maxBytes = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getMax();
    HeapGoal goal = new HeapGoal(maxBytes, ManagementFactory.getRuntimeMXBean().getUptime());
    machine.setVMOption(FLAG, Long.toString(goal.bytes()));
    for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
      if (collector instanceof NotificationEmitter emitter) {
        emitter.addNotificationListener(
            (event, _) -> goal.follow(event, machine), isEndOfCollection(), null);
      }
    }
  }

  /**
   * The collectors that work beside the program tell of their pauses too, in which nothing ends.
   */
  private static NotificationFilter isEndOfCollection() {
    return event ->
        event.getType().equals(GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION)
            && event.getUserData() instanceof CompositeData data
            && isEndOfCollection(GarbageCollectionNotificationInfo.from(data).getGcAction());
  }

  /** Whether this is what a collector calls the end of a collection, and not of a pause. */
  static boolean isEndOfCollection(String action) {
    return action.startsWith("end of ") && !action.endsWith(" pause");
  }

  private synchronized void follow(Notification event, HotSpotDiagnosticMXBean machine) {
    GcInfo collection =
        GarbageCollectionNotificationInfo.from((CompositeData) event.getUserData()).getGcInfo();
    // Code and classes are among the pools too, and small.
    long live =
        collection.getMemoryUsageAfterGc().values().stream().mapToLong(MemoryUsage::getUsed).sum();
    long before = bytes;
    collected(live, collection.getDuration(), collection.getEndTime());
    if (bytes != before) {
      machine.setVMOption(FLAG, Long.toString(bytes));
    }
  }

  /** The goal. */
  long bytes() {
    return bytes;
  }

  /**
   * Takes a collection into account.
   *
   * @param liveBytes what is left after it
   * @param tookMillis how long it took
   * @param nowMillis its end
   */
  void collected(long liveBytes, long tookMillis, long nowMillis) {
    long sinceLast = nowMillis - lastEndMillis;
    lastEndMillis = nowMillis;
    long forTime = 0;
    if (tookMillis * BUSY > sinceLast) {
      forTime = bytes + bytes / 2;
    } else if (tookMillis * IDLE > sinceLast) {
      forTime = bytes;
    }
    neededBytes = Math.max(neededBytes, clamp(Math.max(TIMES * liveBytes, forTime)));
    boolean isLate = nowMillis - sinceMillis >= UNTIL_LOWERED.toMillis();
    if (neededBytes > bytes || isLate) {
      bytes = Math.max(neededBytes, bytes - bytes / 3);
      neededBytes = 0;
      sinceMillis = nowMillis;
    }
  }

  private long clamp(long wanted) {
    return Math.min(maxBytes, Math.max(LEAST_BYTES, wanted));
  }
}
