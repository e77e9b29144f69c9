import java.io.IOException;
import org.apache.lucene.codecs.bloom.FuzzySet;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.SortedSetDocValues;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreMode;
import org.apache.lucene.search.Scorer;
import org.apache.lucene.search.Weight;
import org.apache.lucene.util.FixedBitSet;

/** What Lucene 10 does in its own way: bulk reads, and a skip index for columns that are filtered. */
final class Version {
  static boolean filtered(String column) {
    return column.equals("ts") || column.startsWith("size") || column.equals("uni24");
  }

  static Field skipIndexed(String name) {
    return NumericDocValuesField.indexedField(name, 0L);
  }

  static boolean hasBulk() {
    return true;
  }

  static void longValues(NumericDocValues values, int len, int[] docs, long[] out) throws IOException {
    values.longValues(len, docs, out, 0L);
  }

  /** The ways a range query can go: all values into a bitset, or a query that uses the skip index. */
  static void ranges(
      Session session, String work, LeafReader leaf, String field, long low, long high, FixedBitSet bits)
      throws Exception {
    int docs = session.docs;
    session.measure(
        work,
        "rangeIntoBitSet",
        docs,
        "values",
        () -> {
          bits.clear(0, docs);
          session.numbers(leaf, field).rangeIntoBitSet(0, docs, low, high, bits, 0);
          return bits.cardinality();
        });
    LeafReaderContext context = leaf.getContext();
    IndexSearcher searcher = new IndexSearcher(leaf);
    searcher.setQueryCache(null);
    Query query = NumericDocValuesField.newSlowRangeQuery(field, low, high);
    Weight weight = searcher.createWeight(searcher.rewrite(query), ScoreMode.COMPLETE_NO_SCORES, 1f);
    session.measure(
        work,
        session.lists ? "query, intoBitSet" : "skip index, intoBitSet",
        docs,
        "values",
        () -> {
          bits.clear(0, docs);
          Scorer scorer = weight.scorer(context);
          DocIdSetIterator found = scorer.iterator();
          found.nextDoc();
          found.intoBitSet(DocIdSetIterator.NO_MORE_DOCS, bits, 0);
          return bits.cardinality();
        });
  }

  /** How many documents a range query finds, as a searcher counts them with the skip index. */
  static void counts(Session session, String work, LeafReader leaf, String field, long low, long high)
      throws Exception {
    IndexSearcher searcher = new IndexSearcher(leaf);
    searcher.setQueryCache(null);
    Query query = NumericDocValuesField.newSlowRangeQuery(field, low, high);
    String api = session.lists ? "IndexSearcher.count" : "skip index, IndexSearcher.count";
    session.measure(work, api, 1, "values", () -> searcher.count(query));
  }

  /** The sum of a document's ords, each with plus added. */
  static long ords(SortedSetDocValues values, long plus) throws IOException {
    long total = 0;
    for (int left = values.docValueCount(); left > 0; left--) {
      total += values.nextOrd() + plus;
    }
    return total;
  }

  /** A Bloom filter of so many ids, which about this share of the absent ones may pass. */
  static FuzzySet filter(int ids, float passing) {
    return FuzzySet.createOptimalSet(ids, passing);
  }

  private Version() {}
}
